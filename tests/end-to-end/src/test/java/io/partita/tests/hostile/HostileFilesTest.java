package io.partita.tests.hostile;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import ai.onnx.proto.OnnxMl.ModelProto;
import io.partita.driver.ModelFile;
import io.partita.ir.diagnostic.Diagnostic;
import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.golden.GoldenFile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assertions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;

/** Tests that each invalid model is refused at once with the diagnostic in the golden file. */
class HostileFilesTest {
  private static final Duration AT_ONCE = Duration.ofSeconds(20);
  private static final int MAX_SHOWN = 4;

  @TempDir Path root;
  private Path folder;

  /** Creates a folder with data, a subfolder, and a link to a file outside. */
  @BeforeEach
  void makeFolder() throws IOException {
    folder = Files.createDirectories(root.resolve("models"));
    if (!Files.exists(folder.resolve("inner"))) {
      Files.createDirectories(folder.resolve("inner"));
      Files.write(folder.resolve("data.bin"), new byte[24]);
      Files.write(root.resolve("secret"), new byte[24]);
      Files.createSymbolicLink(folder.resolve("link"), root.resolve("secret"));
    }
  }

  @TestFactory
  Stream<DynamicTest> refusesModels() {
    return HostileModels.all().entrySet().stream()
        .map(
            model ->
                DynamicTest.dynamicTest(
                    model.getKey(),
                    () -> {
                      makeFolder();
                      Path file = folder.resolve("model.onnx");
                      // Uses a new file, because the last one may still be mapped.
                      Files.deleteIfExists(file);
                      Files.write(file, model.getValue().build().toByteArray());
                      if (model.getKey().equals(HostileModels.POLYNOMIALS)) {
                        read(file);
                      } else {
                        requireRefused(model.getKey(), file);
                      }
                    }));
  }

  /** Returns why a model is refused; null if it can be imported with chosen sizes. */
  private static PartitaException read(Path file) {
    return Assertions.assertTimeoutPreemptively(
        AT_ONCE,
        () ->
            catchThrowableOfType(
                PartitaException.class, () -> ModelFile.read(file, Map.of(), Map.of())));
  }

  private void requireRefused(String name, Path file) {
    PartitaException told = read(file);
    assertThat(told).as(name).isNotNull();
    assertThat(told.diagnostics()).extracting(d -> d.code().id()).doesNotContain("P2099", "P6099");
    String text =
        told.diagnostics().stream()
            .limit(MAX_SHOWN)
            .map(Diagnostic::toString)
            .collect(Collectors.joining("\n"))
            .replace(root.toString(), "ROOT");
    int more = told.diagnostics().size() - MAX_SHOWN;
    GoldenFile.of("hostile/models.golden")
        .assertMatches(name, more > 0 ? text + "\nand " + more + " more" : text);
  }

  @Test
  void refusesOtherFiles() throws IOException {
    requireRefused("a missing file", folder.resolve("nothing.onnx"));
    requireRefused("a folder", folder);
    requireRefused("an empty file", Files.createFile(folder.resolve("empty.onnx")));
    requireRefused("a text", Files.writeString(folder.resolve("text.onnx"), "{\"graph\": {}}\n"));
    requireRefused(
        "a path that isn't one", folder.resolve("data.bin").resolve("below").resolve("x.onnx"));
    requireRefused("a missing text", folder.resolve("nothing.pir"));
    requireRefused("a folder as text", Files.createDirectory(folder.resolve("folder.pir")));
    requireRefused("an empty text", Files.createFile(folder.resolve("empty.pir")));
    requireRefused(
        "a text of other bytes",
        Files.write(folder.resolve("bytes.pir"), new byte[] {(byte) 0xff, 0, 1}));
  }

  /** Tests that every prefix of a model is refused or valid. */
  @Test
  void readsEveryPrefixOfAModel() throws IOException {
    byte[] model = HostileModels.all().get("a cycle").build().toByteArray();
    for (int length = 1; length < model.length; length++) {
      Path file = Files.write(folder.resolve("cut" + length), Arrays.copyOf(model, length));
      try {
        ModelFile.read(file, Map.of(), Map.of());
      } catch (PartitaException told) {
        assertThat(told.diagnostics()).isNotEmpty();
      }
    }
  }

  /** Tests pipes, whose opening would block. */
  @Test
  void refusesPipes() throws Exception {
    Path pipe = folder.resolve("pipe.onnx");
    Process made = new ProcessBuilder("mkfifo", pipe.toString()).start();
    org.junit.jupiter.api.Assumptions.assumeTrue(made.waitFor() == 0);
    requireRefused("a pipe", pipe);
    ModelProto.Builder model = HostileModels.all().get("data that isn't there");
    model
        .getGraphBuilder()
        .getInitializerBuilder(0)
        .getExternalDataBuilder(0)
        .setValue("pipe.onnx");
    requireRefused(
        "data in a pipe", Files.write(folder.resolve("piped.onnx"), model.build().toByteArray()));
  }
}
