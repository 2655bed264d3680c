package io.partita.backend.java;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.mesh.Algorithm;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
class LocalProcessesTest {
  @TempDir Path scratch;

  /** Tests the reason of a device that doesn't start, which was once null. */
  @Test
  void devicesThatDontStartReportTheReason() throws Exception {
    JavaDescription description =
        JavaBackend.emit(
                DeviceGoldenTest.program(2, new Algorithm.Direct()), new JavaOptions("", "Model"))
            .description();
    assertThatThrownBy(() -> new LocalProcesses(description, Map.of(), scratch, scratch))
        .isInstanceOf(PartitaException.class)
        .hasMessageContainingAll(
            "P5012", "device 1", "a process that starts", "find or load main class Model");
    try (Stream<Path> left = Files.list(scratch)) {
      assertThat(left.map(file -> file.getFileName().toString()))
          .noneMatch(name -> name.endsWith(".p12") || name.startsWith("."));
    }
  }
}
