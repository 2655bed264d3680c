package io.partita.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.partita.driver.npz.Npz;
import io.partita.ir.tensor.Correlation;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.Shape;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests what is said where Tenstorrent's runtime or simulator is missing. */
class TtsimOptionsTest {
  private static final Map<String, Tensor> DECODER_INPUTS =
      Map.of(
          "input_ids", Tensor.longs(Shape.of(1, 1), 7), "position", Tensor.longs(Shape.of(1), 0));

  @TempDir Path scratch;

  private Path module;
  private Path inputs;

  @BeforeEach
  void writeModule() throws IOException {
    module = scratch.resolve("relu.pir");
    Files.writeString(
        module,
        """
        module {
          graph @relu(%x: f32[32,32]) -> ("y": f32[32,32]) {
            %0 = relu(%x) : f32[32,32] "relu"
            return %0
          }
        }
        """);
    inputs = scratch.resolve("in.npz");
    try (OutputStream out = Files.newOutputStream(inputs)) {
      Npz.write(Map.of("x", Tensor.floats(Shape.of(32, 32), new float[32 * 32])), out);
    }
  }

  /** A program that says of a package what a Python with that release of ttnn would. */
  private Path python(String said) throws IOException {
    Path program = scratch.resolve("python");
    Files.writeString(program, "#!/bin/sh\necho '" + said + "'\n");
    assertThat(program.toFile().setExecutable(true)).isTrue();
    return program;
  }

  private Invocation run(String target, Object... options) {
    Path folder = scratch.resolve(target.replace(':', '-'));
    Invocation compiled = Invocation.of("compile", module, "--target", target, "-o", folder);
    assertThat(compiled.exitCode()).as(compiled.err()).isEqualTo(ExitCode.DONE);
    List<Object> arguments =
        new ArrayList<>(
            List.of("run", folder, "--inputs", inputs, "-o", scratch.resolve("out.npz")));
    arguments.addAll(List.of(options));
    return Invocation.of(arguments.toArray());
  }

  @Test
  void aPythonWithoutTtnnIsReported() throws IOException {
    Path python = python("");
    Invocation run = run("n150", "--on", "ttsim", "--python", python);
    assertThat(run.exitCode()).isEqualTo(ExitCode.USER_ERROR);
    assertThat(run.err())
        .contains(
            """
            error P5102: a tool that builds or runs emitted programs is missing
              where:     --python PYTHON
              expected:  a Python that has ttnn 0.81.1
              found:     no ttnn
              fix:       a Python of version 3.10 or 3.12 with it: PYTHON -m pip install ttnn==0.81.1, then --python PYTHON
            """
                .replace("--python PYTHON\n  expected", "--python " + python + "\n  expected"));
  }

  @Test
  void anotherReleaseIsReported() throws IOException {
    Invocation run = run("n150", "--on=ttsim", "--python", python("partita: 0.62.2 /ttnn"));
    assertThat(run.exitCode()).isEqualTo(ExitCode.USER_ERROR);
    assertThat(run.err()).contains("error P5102", "found:     ttnn 0.62.2");
  }

  @Test
  void aMissingSimulatorIsReported() throws IOException {
    Path python = python("partita: 0.81.1 /ttnn");
    Invocation unnamed = run("n150", "--on=ttsim", "--python", python);
    assertThat(unnamed.exitCode()).isEqualTo(ExitCode.USER_ERROR);
    assertThat(unnamed.err())
        .contains("error P5102", "where:     --on ttsim", "found:     no --ttsim")
        .contains("https://github.com/tenstorrent/ttsim");
    Invocation absent = run("n150", "--on=ttsim", "--python", python, "--ttsim", scratch);
    assertThat(absent.err()).contains("where:     --ttsim " + scratch, "found:     no such file");
  }

  @Test
  void severalChipsAreRefused() throws IOException {
    Path simulator = Files.createFile(scratch.resolve("libttsim.so"));
    Path python = python("partita: 0.81.1 /ttnn");
    Invocation run = run("n300", "--on=ttsim", "--python", python, "--ttsim", simulator);
    assertThat(run.exitCode()).isEqualTo(ExitCode.USER_ERROR);
    assertThat(run.err()).contains("error P5105", "where:     --on ttsim", "found:     2 chips");
  }

  @Test
  void otherProgramsAreRefused() {
    Invocation java = run("java", "--on=ttsim");
    assertThat(java.exitCode()).isEqualTo(ExitCode.USER_ERROR);
    assertThat(java.err()).contains("error P6033", "--on ttsim", "a program in Java");
    Invocation c = run("siracusa", "--on=ttsim");
    assertThat(c.exitCode()).isEqualTo(ExitCode.USER_ERROR);
    assertThat(c.err()).contains("error P6033", "--on ttsim", "a program in C");
  }

  @Test
  void optionsThatDontGoTogetherAreRefused() {
    Invocation emulated = run("n150", "--ttsim", scratch);
    assertThat(emulated.exitCode()).isEqualTo(ExitCode.USER_ERROR);
    assertThat(emulated.err()).contains("--ttsim PATH goes with --on ttsim");
    Invocation profiled = run("n150", "--on=ttsim", "--profile");
    assertThat(profiled.exitCode()).isEqualTo(ExitCode.USER_ERROR);
    assertThat(profiled.err()).contains("don't go with --on ttsim");
  }

  /** A whole decoder of one token, with its KV cache, on one simulated chip under ttnn. */
  @Tag("thorough")
  @Test
  void aDecoderAgreesWithJava() throws IOException {
    String python = System.getProperty("partita.python");
    String simulator = System.getProperty("partita.ttsim");
    if (python == null || simulator == null) {
      System.err.println(
          "NO TTNN OR TTSIM: --on ttsim is NOT TESTED on a decoder; name a Python that has"
              + " ttnn==0.81.1 and libttsim.so: -Dpartita.python=PROGRAM -Dpartita.ttsim=PATH");
    }
    assumeThat(python != null && simulator != null).as("ttnn and ttsim").isTrue();
    module = Invocation.DECODER;
    Path java = scratch.resolve("java.npz");
    Path found = scratch.resolve("found.npz");
    for (String target : List.of("java", "n150")) {
      Path folder = scratch.resolve(target);
      Invocation compiled =
          Invocation.of("compile", module, "--target", target, "--kv-capacity", 64, "-o", folder);
      assertThat(compiled.exitCode()).as(compiled.err()).isEqualTo(ExitCode.DONE);
    }
    Path given = scratch.resolve("token.npz");
    try (OutputStream out = Files.newOutputStream(given)) {
      Npz.write(DECODER_INPUTS, out);
    }
    Invocation expected =
        Invocation.of("run", scratch.resolve("java"), "--inputs", given, "-o", java);
    assertThat(expected.exitCode()).as(expected.err()).isEqualTo(ExitCode.DONE);
    Invocation run =
        Invocation.of(
            "run",
            scratch.resolve("n150"),
            "--inputs",
            given,
            "-o",
            found,
            "--on=ttsim",
            "--timeout=3600",
            "--python",
            python,
            "--ttsim",
            simulator);
    assertThat(run.exitCode()).as(run.err()).isEqualTo(ExitCode.DONE);
    assertThat(
            Correlation.of(
                Npz.read(java).get("logits").doubles(), Npz.read(found).get("logits").doubles()))
        .isGreaterThan(0.999);
  }

  @Test
  void theDoctorTellsWhatIsThere() throws IOException {
    Files.createFile(scratch.resolve("libttsim.so"));
    Invocation there =
        Invocation.of("doctor", "--python", python("partita: 0.81.1 /ttnn"), "--ttsim", scratch);
    assertThat(there.out())
        .containsPattern("(?m)^ok +ttnn +0.81.1, /ttnn$")
        .containsPattern("(?m)^ok +ttsim +.*libttsim.so; simulates a Wormhole chip");
    Invocation missing = Invocation.of("doctor", "--python", python(""));
    assertThat(missing.out())
        .containsPattern("(?m)^optional +ttnn +.* has no ttnn; --on ttsim needs it$")
        .containsPattern("(?m)^optional +ttsim +not named");
  }
}
