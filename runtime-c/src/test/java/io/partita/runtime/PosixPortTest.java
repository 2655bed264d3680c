package io.partita.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** {@code hal_test.c} on this host, which looks at what {@code hal.h} promises. */
@ExtendWith(WithCompiler.class)
class PosixPortTest {
  @TempDir private Path folder;

  private Path image;

  @BeforeEach
  void writeImage() throws IOException {
    byte[] bytes = new byte[256];
    for (int i = 0; i < bytes.length; i++) {
      bytes[i] = (byte) i;
    }
    image = Files.write(folder.resolve("l3"), bytes);
  }

  private static Path program(CCompiler compiler) {
    List<Path> sources = new ArrayList<>(CCompiler.sources("ports/posix"));
    sources.add(CCompiler.MODULE.resolve("src/test/c/hal_test.c"));
    return compiler.executable("hal-test", CCompiler.Build.SANITISED, sources, "-lpthread");
  }

  @ParameterizedTest
  @CsvSource({"1, late", "1, early", "2, late", "4, early"})
  void keepsItsPromises(int chips, String transfers, CCompiler compiler) {
    List<byte[]> inputs =
        Stream.of("", "chip 1", "chip two.", "chip 3").map(String::getBytes).limit(chips).toList();
    List<byte[]> outputs =
        new Chips(program(compiler), folder)
            .run(
                inputs,
                "--l3",
                image.toString(),
                "--transfers",
                transfers,
                "--bandwidth",
                "100000000",
                "--latency",
                "1000");
    assertThat(outputs).containsExactlyElementsOf(inputs);
  }

  @Test
  void readsAndWritesFiles(CCompiler compiler) throws IOException, InterruptedException {
    Path input = Files.writeString(folder.resolve("input"), "abcdef");
    Path output = folder.resolve("output");
    assertThat(run(compiler, input, output)).isEmpty();
    assertThat(output).hasContent("abcdef");
  }

  @Test
  void saysWhenTheInputEndsEarly(CCompiler compiler) throws IOException, InterruptedException {
    Path input = Files.writeString(folder.resolve("input"), "abcd");
    assertThat(run(compiler, input, folder.resolve("output")))
        .isEqualTo("chip 0: the input can't be read, or ends early\n");
    assertThat(run(compiler, folder.resolve("none"), folder.resolve("output")))
        .endsWith("none: chip 0: the file can't be opened\n");
  }

  private String run(CCompiler compiler, Path input, Path output)
      throws IOException, InterruptedException {
    Process process =
        new ProcessBuilder(
                program(compiler).toString(),
                "--l3",
                image.toString(),
                "--input",
                input.toString(),
                "--output",
                output.toString())
            .redirectErrorStream(true)
            .start();
    String messages = new String(process.getInputStream().readAllBytes());
    assertThat(process.waitFor()).isEqualTo(messages.isEmpty() ? 0 : 70);
    return messages;
  }

  /** {@code hal_test.c} loads 1060 bytes and stores 30, and moves 32 of L3. */
  @Test
  void reportsWhatWasMoved(CCompiler compiler) throws IOException, InterruptedException {
    Path report = folder.resolve("report.json");
    Process process =
        new ProcessBuilder(
                program(compiler).toString(),
                "--l3",
                image.toString(),
                "--report",
                report.toString())
            .start();
    process.getOutputStream().close();
    assertThat(process.waitFor()).isZero();
    assertThat(Files.readString(report))
        .matches(
            "\\{\"chip\": 0, \"cycles\": [0-9]+, \"l2_l1\": 1090, \"l3_l2\": 32,"
                + " \"received\": 0, \"sent\": \\{}}\n");
  }

  @Test
  void saysWhichOptionsThereAre(CCompiler compiler) throws IOException, InterruptedException {
    Process process =
        new ProcessBuilder(program(compiler).toString(), "--what", "1")
            .redirectErrorStream(true)
            .start();
    assertThat(new String(process.getInputStream().readAllBytes())).contains("options: --chip");
    assertThat(process.waitFor()).isEqualTo(70);
  }
}
