package io.partita.ir.file;

import static org.assertj.core.api.Assertions.assertThat;

import io.partita.ir.graph.GraphBuilder;
import io.partita.ir.graph.Module;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.text.PirFile;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.TensorType;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Tests that processes terminated while writing leave no files. */
@Timeout(120)
class ShutdownGuardTest {
  @TempDir Path folder;

  /** Writes bytes forever. */
  static final class Endless {
    public static void main(String[] arguments) throws IOException {
      Path file = Path.of(arguments[0], "endless");
      try (ShutdownGuard ending = new ShutdownGuard()) {
        try (OutputStream out = ending.watched(Files.newOutputStream(file))) {
          while (true) {
            out.write(new byte[1 << 10]);
          }
        } finally {
          Files.delete(file);
        }
      }
    }
  }

  /** Writes the same module repeatedly. */
  static final class Modules {
    public static void main(String[] arguments) {
      GraphBuilder builder = new GraphBuilder("large");
      TensorType type = TensorType.of(ElementType.F32, 1 << 22);
      builder.output("y", builder.constant(Tensor.filled(type, 1)));
      Module module = new Module(builder.finish());
      while (true) {
        PirFile.write(module, Path.of(arguments[0], "module.pir"));
      }
    }
  }

  @Test
  void failedStreamsDeleteTheFile() throws Exception {
    interrupt(Endless.class);
    assertThat(names()).isEmpty();
  }

  @Test
  void modulesAreWrittenAtomically() throws Exception {
    interrupt(Modules.class);
    assertThat(names()).isSubsetOf("module.pir", "module.weights");
    if (names().contains("module.pir")) {
      assertThat(PirFile.read(folder.resolve("module.pir")).graph().outputs()).hasSize(1);
    }
  }

  /** Runs a class until it begins to write, and terminates its process. */
  private void interrupt(Class<?> writer) throws IOException, InterruptedException {
    Process process =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-cp",
                System.getProperty("java.class.path"),
                writer.getName(),
                folder.toString())
            .redirectErrorStream(true)
            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
            .start();
    try {
      while (names().isEmpty() && process.isAlive()) {
        Thread.sleep(20);
      }
      assertThat(process.isAlive()).isTrue();
      process.destroy();
      process.waitFor();
    } finally {
      process.destroyForcibly();
    }
  }

  private List<String> names() throws IOException {
    try (Stream<Path> files = Files.list(folder)) {
      return files.map(file -> file.getFileName().toString()).toList();
    }
  }
}
