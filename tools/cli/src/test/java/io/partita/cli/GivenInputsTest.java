package io.partita.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests that inputs of other programs are refused before the run. */
class GivenInputsTest {
  private static final Path RECORDED = Invocation.SHAKESPEARE.resolve("decode/inputs.npz");
  private static final Path VOCABULARY = Invocation.SHAKESPEARE.resolve("vocab.json");

  @TempDir Path scratch;

  private int compilations;

  private Path compiled(Object... options) {
    Path folder = scratch.resolve("compiled" + compilations++);
    Object[] all = Stream.concat(Stream.of("compile", "-o", folder), Stream.of(options)).toArray();
    Invocation compile = Invocation.of(all);
    assertThat(compile.exitCode()).as(compile.err()).isEqualTo(ExitCode.DONE);
    return folder;
  }

  /** Tests that a recorded step agrees with the recording, or is refused. */
  @Test
  void runRefusesCachesThatAreStates() {
    Path outputs = scratch.resolve("out.npz");
    for (String target : List.of("java", "siracusa")) {
      Path folder = compiled(Invocation.DECODER, "--target", target, "--dim=past=40");
      Invocation run = Invocation.of("run", folder, "--inputs", RECORDED, "-o", outputs);
      assertThat(run.exitCode()).isEqualTo(ExitCode.USER_ERROR);
      assertThat(run.err()).contains("error P6030", "past_key_0, past_value_0, past_key_1");
      assertThat(outputs).doesNotExist();
    }
    Path stateless =
        compiled(
            Invocation.DECODER, "--target=java", "--dim=past=39", "--passes", "simplify,raise");
    Invocation run = Invocation.of("run", stateless, "--inputs", RECORDED, "-o", outputs);
    assertThat(run.exitCode()).as(run.err()).isEqualTo(ExitCode.DONE);
    assertThat(run.out()).contains("logits: f32[1,1,65]");
  }

  @Test
  void generateRunsProgramsWithoutACache() {
    Path folder =
        compiled(
            Invocation.SHAKESPEARE.resolve("prefill/network.onnx"),
            "--target=java",
            "--dim=seq=12");
    Invocation generate = generate(folder, "ROMEO:", VOCABULARY);
    assertThat(generate.exitCode()).as(generate.err()).isEqualTo(ExitCode.DONE);
    assertThat(generate.out()).startsWith("ROMEO:\nThe");
    assertThat(generate.err()).doesNotContain("P6025");
    assertThat(generate(folder, "ROMEO:\nThe", VOCABULARY).err())
        .contains("note P6025", "13 tokens before the last one");
  }

  @Test
  void generateRefusesPromptsAndVocabulariesOfOtherSizes() throws IOException {
    Path folder = compiled(Invocation.DECODER, "--target=java", "--dim=past=8");
    Invocation tooLong = generate(folder, "ROMEO:ROMEO:", VOCABULARY);
    assertThat(tooLong.exitCode()).isEqualTo(ExitCode.USER_ERROR);
    assertThat(tooLong.err()).contains("error P6022", "at most 8 tokens", "--kv-capacity 16");
    assertThat(tooLong.out()).isEmpty();
    for (int size : List.of(64, 66)) {
      Path other = scratch.resolve(size + ".json");
      List<String> tokens = new ArrayList<>(Collections.nCopies(size - 1, "\"\""));
      tokens.addFirst("\"R\"");
      Files.writeString(other, tokens.toString());
      Invocation misfit = generate(folder, "R", other);
      assertThat(misfit.exitCode()).isEqualTo(ExitCode.USER_ERROR);
      assertThat(misfit.err()).contains("error P6010", "65 tokens", size + " tokens");
      assertThat(misfit.out()).isEmpty();
    }
  }

  private static Invocation generate(Path folder, String prompt, Path vocabulary) {
    return Invocation.of(
        "generate", folder, "--vocab", vocabulary, "--prompt", prompt, "--tokens", 4);
  }
}
