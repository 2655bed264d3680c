package io.partita.passes.program.localize;

import static org.assertj.core.api.Assertions.assertThat;

import io.partita.ir.graph.Module;
import io.partita.ir.op.Communication;
import io.partita.ir.propagate.RandomMeshModules;
import io.partita.ir.text.PirFile;
import io.partita.ir.verify.Verifier;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests that the program of a device round-trips as text. */
class LocalTextTest {
  @TempDir private Path folder;

  @Test
  void programsRoundTrip() {
    Path file = folder.resolve("device.pir");
    long exchanges = 0;
    for (int seed = 0; seed < 60; seed++) {
      for (Module device : Localization.of(RandomMeshModules.draw(seed), 1).devices()) {
        Verifier.verify(device);
        PirFile.write(device, file);
        assertThat(PirFile.read(file)).isEqualTo(device);
        exchanges +=
            device.graph().nodes().stream()
                .filter(node -> node.op() instanceof Communication.Exchange)
                .count();
      }
    }
    assertThat(exchanges).isGreaterThan(50);
  }
}
