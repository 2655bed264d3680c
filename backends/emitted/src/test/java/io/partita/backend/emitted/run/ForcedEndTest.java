package io.partita.backend.emitted.run;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.Test;

class ForcedEndTest {
  private static final int SLEEPERS = 50;

  @Test
  void nothingIsAliveAfterwards() throws IOException {
    String program =
        "trap '' TERM; for i in $(seq " + SLEEPERS + "); do sleep 1000 & done; echo ready; wait";
    Process process = new ProcessBuilder("sh", "-c", program).start();
    assertThat(process.inputReader().readLine()).isEqualTo("ready");
    List<ProcessHandle> started = ForcedEnd.withDescendants(process);
    assertThat(started).hasSize(SLEEPERS + 1);
    ForcedEnd.of(process);
    assertThat(started.stream().filter(ProcessHandle::isAlive)).isEmpty();
  }
}
