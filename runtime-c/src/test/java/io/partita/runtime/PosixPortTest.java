package io.partita.runtime;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** Tests the contract of {@code hal.h} on this host. */
@ExtendWith(WithCompiler.class)
class PosixPortTest {
  @TempDir private Path folder;

  private static Path program(String source, CCompiler compiler) {
    List<Path> sources = new ArrayList<>(CCompiler.port("emulated", "host", "posix"));
    sources.addAll(HalPrograms.source(source));
    return compiler.executable(source + ".exe", CCompiler.Build.SANITISED, sources, "-lpthread");
  }

  /** At 100 MB/s, messages of 1 MB. */
  @ParameterizedTest
  @CsvSource({"1, late", "1, early", "2, late", "4, early"})
  void meetsItsContract(int chips, String transfers, CCompiler compiler) {
    List<byte[]> copied = HalPrograms.copied(chips);
    List<byte[]> outputs =
        new Chips(program("hal_test.c", compiler), folder)
            .run(
                HalPrograms.inputs(10_000_000, copied),
                "--l3",
                HalPrograms.image(folder).toString(),
                "--transfers",
                transfers,
                "--bandwidth",
                "100000000",
                "--latency",
                "1000");
    assertThat(outputs).containsExactlyElementsOf(copied);
  }

  /** Each chip sends 1 MB to each other, at 100 MB/s for all of them, on clocks that don't wait. */
  @ParameterizedTest
  @CsvSource({"1, 0", "2, 10_000_000", "4, 30_000_000"})
  void chipsTakeTurnsAndShareTheirBandwidth(int chips, String least, CCompiler compiler) {
    List<byte[]> copied = HalPrograms.copied(chips);
    List<byte[]> outputs =
        new Chips(program("hal_test.c", compiler), folder)
            .run(
                HalPrograms.inputs(Integer.parseInt(least.replace("_", "")), copied),
                "--l3",
                HalPrograms.image(folder).toString(),
                "--bandwidth",
                "100000000",
                "--share",
                "chip",
                "--turns",
                folder.resolve("turns").toString());
    assertThat(outputs).containsExactlyElementsOf(copied);
  }

  @ParameterizedTest
  @EnumSource(
      mode = EnumSource.Mode.EXCLUDE,
      names = {"STORE_TO_NOTHING", "LARGE_STACK"})
  void reportsMisuse(HalPrograms.Misuse misuse, CCompiler compiler) {
    Chips chips = new Chips(program("misuse.c", compiler), folder);
    List<byte[]> inputs = Collections.nCopies(2, misuse.input());
    assertThatThrownBy(() -> chips.run(inputs)).hasMessageEndingWith(": " + misuse.message + "\n");
  }

  @Test
  void readsAndWritesFiles(CCompiler compiler) throws IOException, InterruptedException {
    Path input =
        Files.write(
            folder.resolve("input"),
            HalPrograms.input(0, "abcdef".getBytes(StandardCharsets.UTF_8)));
    assertThat(run(compiler, input)).isEmpty();
    assertThat(folder.resolve("output")).hasContent("abcdef");
    assertThat(Files.readString(folder.resolve("report-0")))
        .matches(HalPrograms.report(0, "0", "\\{}"));
  }

  @Test
  void reportsTruncatedInput(CCompiler compiler) throws IOException, InterruptedException {
    Path input =
        Files.write(
            folder.resolve("input"), HalPrograms.input(0, "abcd".getBytes(StandardCharsets.UTF_8)));
    assertThat(run(compiler, input)).isEqualTo("chip 0: the input can't be read, or ends early\n");
    assertThat(run(compiler, folder.resolve("none")))
        .endsWith("none: chip 0: the file can't be opened\n");
  }

  private String run(CCompiler compiler, Path input) throws IOException, InterruptedException {
    Process process =
        new ProcessBuilder(
                program("hal_test.c", compiler).toString(),
                "--l3",
                HalPrograms.image(folder).toString(),
                "--input",
                input.toString(),
                "--output",
                folder.resolve("output").toString(),
                "--report",
                folder.resolve("report-%").toString())
            .redirectErrorStream(true)
            .start();
    String messages = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor()).isEqualTo(messages.isEmpty() ? 0 : 70);
    return messages;
  }

  @Test
  void listsItsOptions(CCompiler compiler) throws IOException, InterruptedException {
    Process process =
        new ProcessBuilder(program("hal_test.c", compiler).toString(), "--what", "1")
            .redirectErrorStream(true)
            .start();
    assertThat(new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8))
        .isEqualTo(
            """
            options: --chip --chips --links --bandwidth --latency --share --turns --l3 --input \
            --output --transfers --report --images, each with a value
            chip 0: unknown option
            """);
    assertThat(process.waitFor()).isEqualTo(70);
  }
}
