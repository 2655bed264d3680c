package io.partita.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.partita.backend.siracusa.run.Build;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Programs in C from the command line. */
@Timeout(300)
class ChipCommandsTest {
  @TempDir Path scratch;

  private Path compiled(int chips) {
    Path folder = scratch.resolve("c" + chips);
    Invocation compile =
        Invocation.of(
            "compile", Invocation.DECODER, "--target=siracusa", "--devices", chips, "-o", folder);
    assertThat(compile.exitCode()).as(compile.err()).isEqualTo(ExitCode.DONE);
    assertThat(compile.out())
        .contains("role_0.c", "C for " + chips + " chips of siracusa: 'make host' builds it");
    return folder;
  }

  private static String text(Path folder) {
    Invocation generate =
        Invocation.of(
            "generate",
            folder,
            "--vocab",
            Invocation.SHAKESPEARE.resolve("vocab.json"),
            "--prompt=ROMEO:",
            "--tokens=20");
    assertThat(generate.exitCode()).as(generate.err()).isEqualTo(ExitCode.DONE);
    return generate.out();
  }

  @Test
  void generatesAsJavaDoes() {
    if (Build.find("gcc").isEmpty() || Build.find("make").isEmpty()) {
      System.err.println("NO C COMPILER: emitted C is NOT TESTED; apt-get install gcc make");
    }
    assumeThat(Build.find("gcc")).isPresent();
    assumeThat(Build.find("make")).isPresent();
    Path java = scratch.resolve("java");
    Invocation compile = Invocation.of("compile", Invocation.DECODER, "--target=java", "-o", java);
    assertThat(compile.exitCode()).as(compile.err()).isEqualTo(ExitCode.DONE);
    assertThat(text(compiled(2))).isEqualTo(text(java));
  }

  @Test
  void saysWhatDoesNotGoTogether() {
    Path folder = compiled(2);
    Path inputs = Invocation.SHAKESPEARE.resolve("greedy.npz");
    Path outputs = scratch.resolve("out.npz");
    Invocation gvsoc =
        Invocation.of("run", folder, "--on=gvsoc", "--inputs", inputs, "-o", outputs);
    assertThat(gvsoc.exitCode()).isEqualTo(ExitCode.USER_ERROR);
    assertThat(gvsoc.err()).contains("--on gvsoc and --gvsoc PATH go together");
    Invocation tooMany =
        Invocation.of(
            "compile",
            Invocation.DECODER,
            "--target=siracusa:chips=2",
            "--devices=4",
            "-o",
            scratch.resolve("none"));
    assertThat(tooMany.err()).contains("P6017", "at most 2 devices, which the target has");
    Invocation small =
        Invocation.of(
            "compile",
            Invocation.DECODER,
            "--target=siracusa",
            "--set=l1=16",
            "-o",
            scratch.resolve("none"));
    assertThat(small.exitCode()).isEqualTo(ExitCode.USER_ERROR);
    assertThat(small.err()).contains("P4402");
    assertThat(settingError("prefetch=no"))
        .contains("P3310", "prefetch=on or prefetch=off", "prefetch=no");
    assertThat(settingError("prefetsch=off"))
        .contains("P3310", "or one of double_buffer=off, prefetch=off", "prefetsch=off");
    assertThat(Files.exists(scratch.resolve("none"))).isFalse();
  }

  private String settingError(String setting) {
    Invocation compile =
        Invocation.of(
            "compile",
            Invocation.DECODER,
            "--target=siracusa",
            "--set=" + setting,
            "-o",
            scratch.resolve("none"));
    assertThat(compile.exitCode()).isEqualTo(ExitCode.USER_ERROR);
    return compile.err();
  }
}
