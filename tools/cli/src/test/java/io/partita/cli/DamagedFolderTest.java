package io.partita.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.partita.backend.emitted.run.BatchProgram;
import io.partita.backend.emitted.run.Build;
import io.partita.backend.emitted.run.Port;
import io.partita.driver.npz.Npz;
import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.tensor.Tensor;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Tests modified files of compiled programs. */
class DamagedFolderTest {
  @TempDir Path scratch;

  private Invocation run(Path folder, Path inputs, Object... options) {
    return Invocation.of(
        Stream.concat(
                Stream.of("run", folder, "--inputs", inputs, "-o", scratch.resolve("out.npz")),
                Stream.of(options))
            .toArray());
  }

  private static List<Path> files(Path folder) throws IOException {
    try (Stream<Path> all = Files.walk(folder)) {
      return all.filter(Files::isRegularFile).sorted().toList();
    }
  }

  /** Tests a flipped bit and a missing last byte of each file. */
  @Test
  void damageOfEveryFileIsDetected() throws IOException {
    Path inputs = SmallChipProgram.inputs(scratch);
    Path chips = SmallChipProgram.compiled(scratch, 2);
    Path java = java();
    for (Path folder : List.of(chips, java)) {
      List<Path> files = files(folder);
      assertThat(files).anyMatch(file -> file.endsWith("checksums.txt"));
      for (Path file : files) {
        byte[] bytes = Files.readAllBytes(file);
        if (bytes.length == 0) {
          continue;
        }
        byte[] flipped = bytes.clone();
        flipped[bytes.length / 2] ^= 1;
        byte[] cut = Arrays.copyOf(bytes, bytes.length - 1);
        Files.write(file, files.indexOf(file) % 3 == 0 ? cut : flipped);
        Invocation run = run(folder, inputs);
        assertThat(run.exitCode()).as("%s: %s", file, run.out()).isEqualTo(ExitCode.USER_ERROR);
        assertThat(run.err())
            .as(file.toString())
            .containsAnyOf("error P5030", "error P5031", "error P5004")
            .doesNotContain("Exception");
        Files.write(file, bytes);
      }
    }
    Files.delete(java.resolve("checksums.txt"));
    assertThat(run(java, inputs).err()).contains("error P5031", "no such file");
    assertThat(run(java, inputs, "--allow-changes").exitCode()).isEqualTo(ExitCode.DONE);
  }

  /** Tests pipes in place of files, whose opening would block. */
  @Tag("thorough")
  @Test
  @Timeout(60)
  void pipesAreNotOpened() throws Exception {
    Path inputs = SmallChipProgram.inputs(scratch);
    Path chips = SmallChipProgram.compiled(scratch, 1);
    Path java = java();
    for (Path folder : List.of(chips, java)) {
      for (Path file : files(folder)) {
        Path kept = Files.move(file, scratch.resolve("kept"));
        pipe(file);
        Invocation run = run(folder, inputs);
        assertThat(run.exitCode()).as("%s: %s", file, run.out()).isEqualTo(ExitCode.USER_ERROR);
        assertThat(run.err()).containsAnyOf("error P5030", "error P5031");
        Files.move(kept, file, StandardCopyOption.REPLACE_EXISTING);
      }
    }
    pipe(scratch.resolve("pipe.npz"));
    assertThat(run(java, scratch.resolve("pipe.npz")).err())
        .contains("error P6003", "a pipe or a device");
    pipe(scratch.resolve("pipe.pir"));
    assertThat(Invocation.of("opt", scratch.resolve("pipe.pir")).err())
        .contains("error P3012", "a pipe or a device");
    pipe(scratch.resolve("run.json"));
    assertThat(Invocation.of("report", chips, "--run", scratch.resolve("run.json")).err())
        .contains("error P6005", "a pipe or a device");
  }

  private static void pipe(Path file) throws Exception {
    assumeTrue(new ProcessBuilder("mkfifo", file.toString()).start().waitFor() == 0);
  }

  /** The model of {@link SmallChipProgram} in Java. */
  private Path java() {
    Path java = scratch.resolve("java");
    Path module = scratch.resolve("hyperbolic.pir");
    Invocation compile = Invocation.of("compile", module, "--target=java", "-o", java);
    assertThat(compile.exitCode()).as(compile.err()).isEqualTo(ExitCode.DONE);
    return java;
  }

  @Test
  void changesAreAllowedExceptOfTheDescription() throws IOException {
    Path inputs = SmallChipProgram.inputs(scratch);
    SmallChipProgram.compiled(scratch, 1);
    Path java = java();
    Path source = java.resolve("Model.java");
    Files.writeString(source, Files.readString(source) + "\n// mine\n");
    assertThat(run(java, inputs).err())
        .contains(
            "error P5030",
            "modified, truncated, missing or not readable: Model.java",
            "--allow-changes");
    Invocation allowed = run(java, inputs, "--allow-changes");
    assertThat(allowed.exitCode()).as(allowed.err()).isEqualTo(ExitCode.DONE);
    assertThat(allowed.err()).contains("note P5032", "Model.java");
    Path description = java.resolve("model.json");
    Files.writeString(description, Files.readString(description).replace("2, 8", "2, 9"));
    assertThat(run(java, inputs).err()).contains("model.json").doesNotContain("--allow-changes");
    assertThat(run(java, inputs, "--allow-changes").err())
        .contains("error P5030", "modified, truncated, missing or not readable: model.json")
        .doesNotContain("bug in Partita");
  }

  /** Tests that C programs verify what they load themselves. */
  @Test
  void emittedCDetectsDamagedMemories() throws IOException {
    SmallChipProgram.on(Port.HOST);
    Path folder = SmallChipProgram.compiled(scratch, 1);
    List<List<Tensor>> inputs =
        List.of(List.copyOf(Npz.read(SmallChipProgram.inputs(scratch)).values()));
    BatchProgram program = new BatchProgram(folder, Port.HOST, Duration.ofSeconds(60));
    Path image = folder.resolve("chip0.l2");
    byte[] bytes = Files.readAllBytes(image);
    Files.write(image, Arrays.copyOf(bytes, bytes.length - 64));
    Build.run(folder, Port.HOST, List.of());
    assertThatThrownBy(() -> program.run(inputs, List.of()))
        .isInstanceOf(PartitaException.class)
        .hasMessageContainingAll("P5104", "L2 differs from the compiled image");
    assertThat(program.run(inputs, List.of("--images", "any")).outputs()).hasSize(1);
  }
}
