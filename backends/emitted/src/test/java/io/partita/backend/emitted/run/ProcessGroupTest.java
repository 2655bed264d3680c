package io.partita.backend.emitted.run;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ProcessGroupTest {
  @TempDir Path files;

  /** Tests that what a killed compiler leaves is in a folder that is deleted. */
  @Test
  void temporaryFilesAreInTheFolderOfTheProcesses() throws IOException, InterruptedException {
    List<String> command = List.of("sh", "-c", "echo left > \"${TMPDIR:-/nowhere}/left.s\"");
    try (ProcessGroup group = ProcessGroup.start(Port.HOST, List.of(command), files)) {
      assertThat(group.awaitEnd(Duration.ofSeconds(20))).isTrue();
      assertThat(group.fails()).isFalse();
    }
    assertThat(files.resolve("left.s")).hasContent("left");
  }
}
