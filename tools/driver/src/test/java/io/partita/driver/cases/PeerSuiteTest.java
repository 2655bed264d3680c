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
   * The peer's own tolerance is 1e-4, absolute. Its results for the exponential are up to 5e10,
   * where the last place of a float is 4096, so the tolerance is also relative.
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
