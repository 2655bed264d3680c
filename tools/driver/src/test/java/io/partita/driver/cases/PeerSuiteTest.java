package io.partita.driver.cases;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.partita.passes.Pipeline;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.OptionalDouble;
import org.junit.jupiter.api.Test;

/** Compares the peer's networks with their recorded data, integers bit for bit. */
class PeerSuiteTest {
  /** The shared data, which is beside the repository. */
  private static final Path NETWORKS = Path.of("../../../shared/peer-suite");

  /**
   * The peer's own criterion is 1e-4, absolute. Its data for the exponential go up to 5e10, where a
   * float's last place is 4096: so it's relative too.
   */
  private static final Tolerance TOLERANCE =
      new Tolerance(OptionalDouble.of(1e-4), OptionalDouble.of(1e-4));

  @Test
  void everyNetworkAgreesWithTheRecording() {
    if (!Files.isDirectory(NETWORKS)) {
      System.err.println("SKIPPED: no networks at " + NETWORKS + "; nothing was compared");
    }
    assumeThat(Files.isDirectory(NETWORKS)).as("the folder %s", NETWORKS).isTrue();
    CaseRunner runner = new CaseRunner(new EvaluatorRunner(), new Pipeline(List.of()), TOLERANCE);
    List<CaseResult> results = TestCase.find(NETWORKS).stream().map(runner::run).toList();
    assertThat(results).isNotEmpty().allMatch(result -> result.status() == CaseResult.Status.PASS);
  }
}
