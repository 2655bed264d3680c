package io.partita.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import io.partita.runtime.HalPrograms.Misuse;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests the contract of {@code hal.h} on bare metal. */
@ExtendWith(WithQemu.class)
class QemuPortTest {
  @TempDir private Path folder;

  private int run(Qemu qemu, String source, String options)
      throws IOException, InterruptedException {
    Path program = qemu.executable(source, HalPrograms.source(source));
    return code(qemu.process(program, folder, options));
  }

  private static int code(ProcessBuilder machine) throws IOException, InterruptedException {
    Process process = machine.start();
    if (!process.waitFor(2, TimeUnit.MINUTES)) {
      process.destroyForcibly();
      throw new AssertionError("QEMU doesn't end");
    }
    assertThat(new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8))
        .isEmpty();
    return process.exitValue();
  }

  private String console() throws IOException {
    return Files.readString(folder.resolve("console"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"late", "early"})
  void meetsItsContract(String transfers, Qemu qemu) throws IOException, InterruptedException {
    HalPrograms.image(folder);
    Files.write(
        folder.resolve("in"), HalPrograms.input(0, "abcdef".getBytes(StandardCharsets.UTF_8)));
    int code =
        run(
            qemu,
            "hal_test.c",
            "--l3 l3 --input in --output out --report report-% --transfers " + transfers);
    assertThat(console()).isEmpty();
    assertThat(code).isZero();
    assertThat(folder.resolve("out")).hasContent("abcdef");
    assertThat(Files.readString(folder.resolve("report-0")))
        .matches(HalPrograms.report(0, "0", "\\{}"));
  }

  @ParameterizedTest
  @EnumSource
  void reportsMisuse(Misuse misuse, Qemu qemu) throws IOException, InterruptedException {
    Files.write(folder.resolve("in"), misuse.input());
    assertThat(run(qemu, "misuse.c", "--input in")).isEqualTo(70);
    String message =
        switch (misuse) {
          case NO_SUCH_CHIP, OTHER_SIZE ->
              "a message to another chip, but this port has only one:"
                  + " use another port for several chips";
          case TOO_LONG_A_TRANSFER,
              SECOND_WAIT,
              OUTSIDE_OF_L1,
              UNALIGNED_L3,
              BEYOND_L3,
              STORE_TO_NOTHING,
              LARGE_STACK ->
              misuse.message;
        };
    assertThat(console()).endsWith("chip 0: " + message + "\n");
  }

  @Test
  void hasNoOutputWithoutAFile(Qemu qemu) throws IOException, InterruptedException {
    HalPrograms.image(folder);
    Files.write(folder.resolve("in"), HalPrograms.input(0, "abc".getBytes(StandardCharsets.UTF_8)));
    assertThat(run(qemu, "hal_test.c", "--l3 l3 --input in")).isEqualTo(70);
    assertThat(console()).isEqualTo("chip 0: the output can't be written\n");
  }

  /** Time is skipped while all harts sleep. */
  @Test
  void reportsMissingHarts(Qemu qemu) throws IOException, InterruptedException {
    Path program = qemu.executable("misuse.c", HalPrograms.source("misuse.c"));
    ProcessBuilder machine = qemu.process(program, folder, "");
    machine.command().addAll(List.of("-smp", "4", "-icount", "shift=0,sleep=off"));
    assertThat(code(machine)).isEqualTo(70);
    assertThat(console()).contains("too few harts");
  }
}
