package io.partita.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Tests that a command that fails because its process ends reports no failure. */
@Timeout(60)
final class EndingCommandTest {
  @TempDir Path folder;

  /** A process whose command fails, while it goes on or when it ends. */
  static final class Failing {
    private Failing() {}

    public static void main(String[] arguments) {
      Runnable command = () -> Main.run(System.out, System.err, "inspect", "none.onnx", "--json");
      if (arguments[0].equals("ending")) {
        Runtime.getRuntime().addShutdownHook(new Thread(command, "command"));
      } else {
        command.run();
      }
    }
  }

  private String printed(String when) throws Exception {
    Path log = folder.resolve(when);
    Process process =
        new ProcessBuilder(
                List.of(
                    Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                    "-cp",
                    System.getProperty("java.class.path"),
                    Failing.class.getName(),
                    when))
            .redirectErrorStream(true)
            .redirectOutput(log.toFile())
            .start();
    assertThat(process.waitFor()).isZero();
    return Files.readString(log);
  }

  @Tag("thorough")
  @Test
  void failuresOfEndingProcessesAreNotReported() throws Exception {
    assertThat(printed("running")).contains("error P1", "none.onnx");
    assertThat(printed("ending")).isEmpty();
  }
}
