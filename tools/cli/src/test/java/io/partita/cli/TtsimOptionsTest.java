package io.partita.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.partita.driver.npz.Npz;
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
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests what is said where Tenstorrent's runtime or simulator is missing. */
class TtsimOptionsTest {
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
    assertThat(java.err()).contains("--on ttsim is for 'partita run' of TT-Metalium kernels");
    Invocation c = run("siracusa", "--on=ttsim");
    assertThat(c.exitCode()).isEqualTo(ExitCode.USER_ERROR);
    assertThat(c.err()).contains("--on ttsim is for 'partita run' of TT-Metalium kernels");
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
