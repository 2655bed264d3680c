package io.partita.driver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.partita.ir.graph.GraphBuilder;
import io.partita.ir.graph.Module;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.text.PirFile;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.TensorType;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Tests outputs to other targets than new files. */
@Timeout(30)
class OutputFileTest {
  private static final byte[] TEXT = "text".getBytes(StandardCharsets.UTF_8);

  @TempDir Path folder;

  private static void write(Path file) {
    OutputFile.write(file, out -> out.write(TEXT));
  }

  @Test
  void linksAreFollowed() throws IOException {
    Path file = Files.writeString(folder.resolve("file"), "old");
    Path link = Files.createSymbolicLink(folder.resolve("link"), Path.of("file"));
    Path second = Files.createSymbolicLink(folder.resolve("second"), Path.of("link"));
    write(second);
    assertThat(link).isSymbolicLink();
    assertThat(second).isSymbolicLink();
    assertThat(file).hasContent("text");
    Path dangling = Files.createSymbolicLink(folder.resolve("dangling"), Path.of("new"));
    write(dangling);
    assertThat(folder.resolve("new")).hasContent("text");
    Path circle = Files.createSymbolicLink(folder.resolve("circle"), Path.of("circle"));
    assertThatThrownBy(() -> write(circle)).hasMessageContaining("P6005");
  }

  @Test
  void pipesAreWritten() throws Exception {
    Path pipe = folder.resolve("pipe");
    assumeThat(new ProcessBuilder("mkfifo", pipe.toString()).start().waitFor()).isZero();
    CompletableFuture<String> read =
        CompletableFuture.supplyAsync(
            () -> {
              try {
                return Files.readString(pipe);
              } catch (IOException e) {
                throw new IllegalStateException(e);
              }
            });
    write(pipe);
    assertThat(read.join()).isEqualTo("text");
    assertThat(Files.isRegularFile(pipe)).isFalse();
  }

  @Test
  void devicesAreNotReplaced() {
    Path device = Path.of("/dev/null");
    assumeThat(device).exists();
    write(device);
    assertThat(Files.isRegularFile(device)).isFalse();
    GraphBuilder builder = new GraphBuilder("identity");
    builder.output("y", builder.input("x", TensorType.of(ElementType.F32, 1)));
    PirFile.write(new Module(builder.finish()), device);
    assertThat(Files.isRegularFile(device)).isFalse();
    Path full = Path.of("/dev/full");
    assumeThat(full).exists();
    assertThatThrownBy(() -> write(full)).hasMessageContaining("P6005");
  }

  /** Tests that a module in text form needs a file of weights. */
  @Test
  void weightsNeedARegularFile() {
    Path device = Path.of("/dev/null");
    assumeThat(device).exists();
    GraphBuilder builder = new GraphBuilder("large");
    TensorType type = TensorType.of(ElementType.F32, 1 << 12);
    builder.output("y", builder.constant(Tensor.filled(type, 1)));
    assertThatThrownBy(() -> PirFile.write(new Module(builder.finish()), device))
        .hasMessageContaining("have a file of weights");
  }

  @Test
  void unwritablePathsAreRefused() throws IOException {
    assertThatThrownBy(() -> write(folder)).hasMessageContainingAll("P6005", "it is a folder");
    Path file = Files.writeString(folder.resolve("mine"), "mine");
    assertThat(file.toFile().setWritable(false)).isTrue();
    if (!Files.isWritable(file)) {
      assertThatThrownBy(() -> write(file)).hasMessageContainingAll("P6005", "no permission");
      assertThat(file).hasContent("mine");
    }
    Path below = file.resolve("below");
    assertThatThrownBy(() -> write(below)).hasMessageContaining("P6005");
    try (Stream<Path> left = Files.list(folder)) {
      assertThat(left).containsExactly(file);
    }
  }

  @Test
  void theFolderOfAFileIsNamed() throws IOException {
    Path protectedFolder = Files.createDirectory(folder.resolve("protected"));
    assertThat(protectedFolder.toFile().setWritable(false)).isTrue();
    assumeThat(Files.isWritable(protectedFolder)).as("root writes everywhere").isFalse();
    assertThatThrownBy(() -> write(protectedFolder.resolve("file")))
        .hasMessageContainingAll("P6005", "found:     " + protectedFolder + ": no permission");
    assertThat(protectedFolder.toFile().setWritable(true)).isTrue();
  }

  /** Tests names that leave no room for a longer temporary one, of one and of more bytes. */
  @Test
  void namesMayBeAsLongAsTheFileSystemAllows() throws IOException {
    for (Path file : List.of(folder.resolve("n".repeat(255)), folder.resolve("語".repeat(85)))) {
      OutputFile.verify(file);
      write(file);
      assertThat(file).hasContent("text");
    }
    Path tooLong = folder.resolve("n".repeat(256));
    assertThatThrownBy(() -> OutputFile.verify(tooLong)).hasMessageContaining("P6005");
    assertThatThrownBy(() -> OutputFile.verify(tooLong.resolve("file")))
        .hasMessageContaining("P6005");
  }

  @Test
  void aReplacedFileKeepsItsPermissions() throws IOException {
    Path file = Files.writeString(folder.resolve("file"), "old");
    assumeThat(Files.getFileStore(file).supportsFileAttributeView("posix")).isTrue();
    for (String permissions : List.of("rw-------", "rw-rw-r--")) {
      Files.setPosixFilePermissions(file, PosixFilePermissions.fromString(permissions));
      write(file);
      assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file)))
          .isEqualTo(permissions);
    }
  }

  /** Tests the second file of a module in text form. */
  @Test
  void linksToWeightsAreFollowed() throws IOException {
    Path disk = Files.createDirectory(folder.resolve("large-disk")).resolve("weights");
    Path link = Files.createSymbolicLink(folder.resolve("large.weights"), disk);
    GraphBuilder builder = new GraphBuilder("large");
    TensorType type = TensorType.of(ElementType.F32, 1 << 12);
    builder.output("y", builder.constant(Tensor.filled(type, 1)));
    PirFile.write(new Module(builder.finish()), folder.resolve("large.pir"));
    assertThat(link).isSymbolicLink();
    assertThat(Files.size(disk)).isGreaterThanOrEqualTo(type.bytes());
  }

  /** Tests that a file never has parts of what another writes at the same time. */
  @Test
  void severalMayWriteOneFile() throws IOException {
    Path file = folder.resolve("file");
    try (ExecutorService threads = Executors.newFixedThreadPool(4)) {
      List<CompletableFuture<Void>> writing = new ArrayList<>();
      for (int i = 0; i < 400; i++) {
        byte[] content = "x".repeat(1 + i % 4 * 100_000).getBytes(StandardCharsets.UTF_8);
        writing.add(
            CompletableFuture.runAsync(
                () -> OutputFile.write(file, out -> out.write(content)), threads));
      }
      writing.forEach(CompletableFuture::join);
    }
    assertThat(Files.size(file) % 100_000).isOne();
    try (Stream<Path> left = Files.list(folder)) {
      assertThat(left).containsExactly(file);
    }
  }
}
