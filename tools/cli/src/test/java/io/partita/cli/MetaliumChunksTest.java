package io.partita.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests programs of Tenstorrent chips that take several tokens of a prompt at once. */
class MetaliumChunksTest {
  /** A decoder that takes any number of tokens, and the export without cache of another. */
  private static final Path PROMPT =
      Invocation.ROOT.resolve("tests/models/tiny-shakespeare-prompt/network.onnx");

  private static final Path PREFILL =
      Invocation.DECODER.getParent().resolveSibling("prefill/network.onnx");

  @TempDir Path scratch;

  /** Both entry points use the same caches and weights, which are stored once. */
  @Test
  void entryPointsShareStatesAndWeights() throws IOException {
    Path one = chunked("n150", "step");
    Path two = chunked("n150", "both", "--chunk=8", "--prompt-model=" + PREFILL);
    String[] texts = new String[2];
    for (int i = 0; i < 2; i++) {
      texts[i] = Files.readString((i == 0 ? one : two).resolve("model.py"));
    }
    assertThat(texts[1]).contains("if model.is_chunk():", "model.read_indices(8)");
    assertThat(texts[0]).doesNotContain("is_chunk");
    for (String kind : List.of("model.state(", "model.constant(64, 176)")) {
      assertThat(texts[1].split(Pattern.quote(kind), -1))
          .as(kind)
          .hasSameSizeAs(texts[0].split(Pattern.quote(kind), -1));
    }
    assertThat(two.resolve("model.json")).content().contains("\"chunk\"");
  }

  /**
   * A prompt of 10 tokens in chunks of 4, the last of which is padded, and one whose first 8 tokens
   * are one run.
   */
  @Tag("thorough")
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "n150:chips=2 | --chunk=4",
        "n150         | --chunk=8 --prompt-model=PREFILL",
      })
  void chunksWriteTheSameTextAsJava(String target, String options) {
    String[] all = options.replace("PREFILL", PREFILL.toString()).split(" ");
    String[] prompt = {"--prompt=ROMEO:\nThe", "--tokens=12"};
    Path expected = chunked("java", "expected", all.length == 1 ? all : new String[0]);
    Path found = chunked(target, "found", all);
    assertThat(MetaliumCommandsTest.text(found, prompt))
        .isEqualTo(MetaliumCommandsTest.text(expected, prompt))
        .startsWith("ROMEO:");
    Invocation generate =
        Invocation.of(
            "generate",
            found,
            "--vocab",
            MetaliumCommandsTest.vocabulary(),
            prompt[0],
            prompt[1],
            "--json");
    assertThat(generate.json().get("promptChunk")).hasToString(all[0].substring(8));
  }

  private Path chunked(String target, String name, String... options) {
    boolean isDynamic = options.length == 1;
    Path folder = scratch.resolve(name);
    List<Object> arguments = new ArrayList<>();
    Collections.addAll(arguments, "compile", isDynamic ? PROMPT : Invocation.DECODER);
    Collections.addAll(arguments, "--target", target, "--kv-capacity=32");
    Collections.addAll(arguments, (Object[]) options);
    Collections.addAll(arguments, "-o", folder);
    Invocation compile = Invocation.of(arguments.toArray());
    assertThat(compile.exitCode()).as(compile.err()).isEqualTo(ExitCode.DONE);
    return folder;
  }
}
