package io.partita.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests prompts in chunks with other options for the cache and the devices. */
class ChunkOptionsTest {
  private static final Path PROMPT =
      Invocation.ROOT.resolve("tests/models/tiny-shakespeare-prompt/network.onnx");
  private static final Path GENAI =
      Invocation.ROOT.resolve("../shared/user-models/genai_llama_fp32");

  @TempDir Path scratch;

  private Invocation compile(Path model, String options) {
    List<Object> arguments =
        new ArrayList<>(
            List.of(
                "compile",
                model,
                "--target",
                "java",
                "--chunk",
                "3",
                "-o",
                scratch.resolve("out")));
    arguments.addAll(Arrays.asList(options.split(" ")));
    Invocation compile = Invocation.of(arguments.toArray());
    assertThat(compile.exitCode()).as(compile.err()).isEqualTo(ExitCode.DONE);
    assertThat(compile.out()).contains("step(…), chunk(…)");
    return compile;
  }

  private String text(Path vocabulary, String prompt) {
    Invocation generate =
        Invocation.of(
            "generate",
            scratch.resolve("out"),
            "--vocab",
            vocabulary,
            "--prompt",
            prompt,
            "--tokens",
            "12");
    assertThat(generate.exitCode()).as(generate.err()).isEqualTo(ExitCode.DONE);
    assertThat(generate.err() + generate.out()).contains("3 at once");
    return generate
        .out()
        .lines()
        .takeWhile(line -> !line.contains(" tokens, "))
        .toList()
        .toString();
  }

  private String text() {
    return text(Invocation.SHAKESPEARE.resolve("vocab.json"), "ROMEO:\nThe");
  }

  @Tag("thorough")
  @Test
  void plansAndPassesDontChangeTheText() {
    compile(PROMPT, "--kv-capacity 32");
    String expected = text();
    assertThat(
            compile(PROMPT, "--kv-capacity 32 --plan siracusa:chips=2 --strategy tensor=2").out())
        .contains("2 devices");
    assertThat(text()).isEqualTo(expected);
    String passes = "simplify,raise,simplify,kv-state(capacity=32),simplify";
    compile(PROMPT, "--passes " + passes);
    assertThat(text()).isEqualTo(expected);
  }

  /** Tests that the total length is that of the past and one token for any chunk. */
  @Tag("thorough")
  @Test
  void theTotalLengthIsThatOfOneToken() {
    assumeThat(GENAI).exists();
    Path model = GENAI.resolve("network.onnx");
    compile(model, "--kv-capacity 40");
    String expected = text(GENAI.resolve("vocab.json"), "丝丝上丷丮");
    String state = "a state of %,d bytes".formatted(40 * 2 * 2 * 2 * 16 * 4);
    assertThat(compile(model, "--dim total_sequence_length=41").out()).contains(state);
    assertThat(text(GENAI.resolve("vocab.json"), "丝丝上丷丮")).isEqualTo(expected);
  }
}
