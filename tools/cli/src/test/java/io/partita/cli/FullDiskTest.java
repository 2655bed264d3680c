package io.partita.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Tests commands whose files can't be completed, here since the shell limits their size. */
@Timeout(120)
class FullDiskTest {
  private static final Path PROMPT = Invocation.SHAKESPEARE.resolve("prefill");

  /** In blocks of 512 or 1024 bytes, depending on the shell. */
  private static final String LIMITED = "ulimit -f 32 && exec \"$@\"";

  @TempDir Path scratch;
  private Path temporary;

  @BeforeEach
  void makeFolder() throws IOException {
    temporary = Files.createDirectory(scratch.resolve("tmp"));
  }

  private void assertFails(String code, Object... arguments) throws Exception {
    Map<Path, Long> before = contents();
    List<String> command =
        new ArrayList<>(
            List.of(
                "sh",
                "-c",
                LIMITED,
                "sh",
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:TieredStopAtLevel=1",
                "-XX:-UsePerfData",
                "--enable-native-access=ALL-UNNAMED",
                "--sun-misc-unsafe-memory-access=allow",
                "-Djava.io.tmpdir=" + temporary,
                "-cp",
                System.getProperty("java.class.path"),
                Main.class.getName()));
    Stream.of(arguments).map(Object::toString).forEach(command::add);
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor()).as(said).isEqualTo(ExitCode.USER_ERROR);
    assertThat(said).contains("error " + code + ":", "File too large").doesNotContain("\tat ");
    assertThat(contents()).isEqualTo(before);
  }

  /** The sizes of all files and folders, by path; none may be added or changed. */
  private Map<Path, Long> contents() throws IOException {
    Map<Path, Long> sizes = new TreeMap<>();
    try (Stream<Path> paths = Files.walk(scratch)) {
      for (Path path : paths.toList()) {
        sizes.put(path, Files.isRegularFile(path) ? Files.size(path) : 0);
      }
    }
    return sizes;
  }

  @Tag("thorough")
  @Test
  void programsAreCompleteOrMissing() throws Exception {
    Path folder = scratch.resolve("program");
    for (String target : List.of("java", "siracusa")) {
      assertFails(
          "P5002",
          "compile",
          Invocation.DECODER,
          "--dim=past=8",
          "--target=" + target,
          "-o",
          folder);
    }
  }

  @Tag("thorough")
  @Test
  void filesAreCompleteOrMissing() throws Exception {
    Path folder = scratch.resolve("program");
    Path model = PROMPT.resolve("network.onnx");
    Invocation.of("compile", model, "--dim=seq=128", "--target=java", "-o", folder);
    Path inputs = PROMPT.resolve("inputs.npz");
    assertFails("P6005", "run", folder, "--inputs", inputs, "-o", scratch.resolve("logits.npz"));
    assertFails("P6005", "report", folder);
    Path pir = scratch.resolve("module.pir");
    assertFails("P3012", "opt", model, "--dim=seq=8", "--passes=simplify", "-o", pir);
    Path data = Invocation.SHAKESPEARE.resolve("eval.npz");
    Path quantized = scratch.resolve("quantized.onnx");
    String samples = "--samples=1";
    assertFails(
        "P5002",
        "quantize",
        model,
        "--calibration",
        data,
        "--array=validation",
        samples,
        "-o",
        quantized);
  }

  @Test
  void temporaryFilesAreRemoved() throws Exception {
    assertFails("P5002", "plan", "tinyllama-42m", "--mode=decode", "--target=siracusa:chips=8");
    assertFails("P5002", "check", "--target=java", Invocation.SHAKESPEARE.resolve("decode"));
  }
}
