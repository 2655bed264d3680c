package io.partita.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A decoder of one token, whose prompt an export without cache takes. */
class PromptModelTest {
  private static final Path DECODE = Invocation.SHAKESPEARE.resolve("decode/network.onnx");
  private static final Path PREFILL = Invocation.SHAKESPEARE.resolve("prefill/network.onnx");
  private static final String PROMPT = "ROMEO:\nThe";

  @TempDir Path scratch;

  private Invocation compile(String target, String out, Path prompt, String options) {
    List<Object> arguments =
        new ArrayList<>(
            List.of("compile", DECODE, "--target", target, "--kv-capacity", "24", "-o"));
    arguments.add(scratch.resolve(out));
    if (prompt != null) {
      arguments.addAll(List.of("--prompt-model", prompt));
    }
    if (!options.isEmpty()) {
      arguments.addAll(Arrays.asList(options.split(" ")));
    }
    return Invocation.of(arguments.toArray());
  }

  private String text(String folder, String chunk) {
    Invocation generate =
        Invocation.of(
            "generate",
            scratch.resolve(folder),
            "--vocab",
            Invocation.SHAKESPEARE.resolve("vocab.json"),
            "--prompt",
            PROMPT,
            "--tokens",
            "12");
    assertThat(generate.exitCode()).as(generate.err()).isEqualTo(ExitCode.DONE);
    assertThat(generate.err() + generate.out()).contains(chunk);
    return generate
        .out()
        .lines()
        .takeWhile(line -> !line.contains(" tokens, "))
        .toList()
        .toString();
  }

  /** A prompt that is longer than a chunk, and one that is shorter. */
  @Test
  void promptsInOneRunGiveTheSameText() {
    assertThat(compile("java", "one", null, "").exitCode()).isEqualTo(ExitCode.DONE);
    String expected = text("one", "");
    for (int tokens : new int[] {7, 16}) {
      String devices = tokens == 7 ? " --devices 3 --strategy sequence" : "";
      Invocation compile = compile("java", "out", PREFILL, "--chunk " + tokens + devices);
      assertThat(compile.exitCode()).as(compile.err()).isEqualTo(ExitCode.DONE);
      assertThat(text("out", tokens + " at once")).isEqualTo(expected);
    }
  }

  @Test
  @Tag("thorough")
  void vectorQuantisedTokensGiveTheSameTextInC() {
    Path calibration = scratch.resolve("vq.json");
    Invocation calibrate =
        Invocation.of(
            "calibrate",
            PREFILL,
            "--data",
            Invocation.SHAKESPEARE.resolve("eval.npz"),
            "--strategy",
            "sequence",
            "--devices",
            "2",
            "--samples",
            "2",
            "--sync",
            "vq(k=64,groups=4)",
            "-o",
            calibration);
    assertThat(calibrate.exitCode()).as(calibrate.err()).isEqualTo(ExitCode.DONE);
    String options =
        "--chunk 8 --devices 2 --strategy sequence --sync vq(k=64,groups=4) --calibration "
            + calibration;
    for (String target : List.of("java", "siracusa:chips=2")) {
      Invocation compile = compile(target, target.substring(0, 4), PREFILL, options);
      assertThat(compile.exitCode()).as(compile.err()).isEqualTo(ExitCode.DONE);
    }
    assertThat(text("sira", "8 at once")).isEqualTo(text("java", "8 at once"));
  }

  @Test
  void anotherModelIsRefused() throws IOException {
    byte[] bytes = Files.readAllBytes(PREFILL);
    bytes[bytes.length / 2] ^= 1;
    Path other = Files.write(scratch.resolve("other.onnx"), bytes);
    assertThat(compile("java", "out", other, "--chunk 16").err())
        .contains("P6021", "where:     --prompt-model", "other values in 1 of 29 matrices");
    assertThat(compile("java", "out", DECODE, "--chunk 8").err())
        .contains("P6021", "expected:  causal attention");
    assertThat(compile("java", "out", PREFILL, "--chunk 32").err())
        .contains("P6021", "keys and values that fit the caches");
  }

  @Test
  void theNumberOfTokensIsNeeded() {
    assertThat(compile("java", "out", PREFILL, "").err())
        .contains("--prompt-model needs --chunk N");
  }
}
