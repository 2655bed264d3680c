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
        pir 1
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
  void moreThanTwoChipsAreRefused() throws IOException {
    Path simulator = Files.createFile(scratch.resolve("libttsim.so"));
    Path python = python("partita: 0.81.1 /ttnn");
    Invocation run = run("n150:chips=4", "--on=ttsim", "--python", python, "--ttsim", simulator);
    assertThat(run.exitCode()).isEqualTo(ExitCode.USER_ERROR);
    assertThat(run.err()).contains("error P5105", "where:     --on ttsim", "found:     4 chips");
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
    assertThat(profiled.err()).contains("--profile is for C programs");
    Invocation gvsoc = run("n150", "--on=ttsim", "--gvsoc", scratch);
    assertThat(gvsoc.exitCode()).isEqualTo(ExitCode.USER_ERROR);
    assertThat(gvsoc.err()).contains("--gvsoc and --gvsoc-headers are for C programs");
    Invocation python = run("n150", "--python", "python3");
    assertThat(python.exitCode()).isEqualTo(ExitCode.USER_ERROR);
    assertThat(python.err()).contains("--python goes with --on ttsim or --on gvsoc");
  }

  /** All commands that run kernels look for the same tools. */
  @Test
  void missingToolsAreReportedByEachCommand() throws IOException {
    Path python = python("");
    Path folder = scratch.resolve("program");
    Invocation compiled = Invocation.of("compile", module, "--target", "n150", "-o", folder);
    assertThat(compiled.exitCode()).as(compiled.err()).isEqualTo(ExitCode.DONE);
    Path vocabulary = Invocation.DECODER.getParent().resolveSibling("vocab.json");
    for (List<?> command :
        List.of(
            List.of("diff", folder, "--inputs", inputs),
            List.of("generate", folder, "--prompt", "a", "--vocab", vocabulary),
            List.of("check", Invocation.DECODER.getParent(), "--target", "n150"))) {
      List<Object> arguments = new ArrayList<>(command);
      arguments.addAll(List.of("--on=ttsim", "--python", python));
      Invocation missing = Invocation.of(arguments.toArray());
      assertThat(missing.exitCode()).isEqualTo(ExitCode.USER_ERROR);
      assertThat(missing.err()).contains("error P5102", "found:     no ttnn");
      arguments.set(arguments.indexOf("--on=ttsim"), "--ttsim=" + scratch);
      Invocation without = Invocation.of(arguments.toArray());
      assertThat(without.exitCode()).isEqualTo(ExitCode.USER_ERROR);
      assertThat(without.err()).contains("--ttsim PATH goes with --on ttsim");
    }
  }

  /** A program that is stopped since it is late may only need more time. */
  @Tag("thorough")
  @Test
  void programsThatAreLateMayNeedMoreTime() throws IOException {
    Path folder = scratch.resolve("late");
    Invocation compiled = Invocation.of("compile", module, "--target", "n150", "-o", folder);
    assertThat(compiled.exitCode()).as(compiled.err()).isEqualTo(ExitCode.DONE);
    Path output = scratch.resolve("late.npz");
    Invocation late = Invocation.of("run", folder, "--inputs", inputs, "-o", output, "--timeout=0");
    assertThat(late.err())
        .contains("error P5104", "still running after 0 s", "allow more time with --timeout");
    assertThat(Invocation.of("diff", "--help").out()).contains("on ttsim 600");
  }

  /**
   * The options of a command that runs kernels under ttnn on ttsim; skips the test without them.
   */
  private static List<Object> simulated(Object... command) {
    String python = System.getProperty("partita.python");
    String simulator = System.getProperty("partita.ttsim");
    if (python == null || simulator == null) {
      System.err.println(
          "NO TTNN OR TTSIM: --on ttsim is NOT TESTED on a decoder; name a Python that has"
              + " ttnn==0.81.1 and libttsim.so: -Dpartita.python=PROGRAM -Dpartita.ttsim=PATH");
    }
    assumeThat(python != null && simulator != null).as("ttnn and ttsim").isTrue();
    List<Object> arguments = new ArrayList<>(List.of(command));
    arguments.addAll(
        List.of("--on=ttsim", "--timeout=3600", "--python", python, "--ttsim", simulator));
    return arguments;
  }

  private static Invocation succeed(List<Object> arguments) {
    Invocation invocation = Invocation.of(arguments.toArray());
    assertThat(invocation.exitCode()).as(invocation.err()).isEqualTo(ExitCode.DONE);
    return invocation;
  }

  /** A whole decoder with its KV cache, on one simulated chip under ttnn. */
  @Tag("thorough")
  @Test
  void aDecoderAgreesWithJava() throws IOException {
    List<Object> options = simulated();
    Path java = scratch.resolve("java");
    Path chip = scratch.resolve("n150");
    for (Path folder : List.of(java, chip)) {
      succeed(
          List.of(
              "compile",
              Invocation.DECODER,
              "--target",
              folder.getFileName(),
              "--kv-capacity=64",
              "-o",
              folder));
    }
    Path given = scratch.resolve("token.npz");
    try (OutputStream out = Files.newOutputStream(given)) {
      Npz.write(DECODER_INPUTS, out);
    }
    Path expected = scratch.resolve("expected.npz");
    Path found = scratch.resolve("found.npz");
    succeed(List.of("run", java, "--inputs", given, "-o", expected));
    succeed(with(options, "run", chip, "--inputs", given, "-o", found));
    assertThat(
            Correlation.of(
                Npz.read(expected).get("logits").doubles(),
                Npz.read(found).get("logits").doubles()))
        .isGreaterThan(0.999);

    Path vocabulary = Invocation.DECODER.getParent().resolveSibling("vocab.json");
    Object[] text = {"--prompt", "ROMEO:", "--tokens=4", "--vocab", vocabulary};
    List<Object> inJava = new ArrayList<>(List.of("generate", java));
    inJava.addAll(List.of(text));
    List<Object> onTtsim = with(options, "generate", chip);
    onTtsim.addAll(List.of(text));
    assertThat(succeed(onTtsim).out()).isEqualTo(succeed(inJava).out());

    assertThat(succeed(with(options, "diff", chip, "--inputs", given)).out())
        .containsPattern("^PASS \\d+ steps on 1 chip;");
  }

  private static List<Object> with(List<Object> options, Object... command) {
    List<Object> all = new ArrayList<>(List.of(command));
    all.addAll(options);
    return all;
  }

  /** A recorded prompt of 128 tokens, whose largest logit is 12.4: 0.15 is 0.012 of it. */
  @Tag("thorough")
  @Test
  void aRecordedCasePasses() {
    Path prompt = Invocation.DECODER.getParent().resolveSibling("prefill");
    Invocation check =
        succeed(simulated("check", prompt, "--target=n150", "--rtol=0.02", "--atol=0.15"));
    assertThat(check.out()).contains("PASS ", "1 passed, 0 failed, 0 unsupported");
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
