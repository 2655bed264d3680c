package io.partita.tests.recorded;

import static org.assertj.core.api.Assertions.assertThat;

import io.partita.driver.Distribution;
import io.partita.driver.Sharding;
import io.partita.driver.StandardPasses;
import io.partita.driver.Target;
import io.partita.driver.cases.CaseResult;
import io.partita.driver.cases.CaseRunner;
import io.partita.driver.cases.TestCase;
import io.partita.driver.cases.Tolerance;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * The test networks of Deeploy on several devices, each a thread: integers are bit-identical to the
 * recorded ones, floats within the tolerance of one device.
 */
class DistributedPeerSuiteTest {
  @Test
  void everyNetworkPassesOnThreeDevices() {
    everyNetworkPasses(3);
  }

  @Tag("thorough")
  @Test
  void everyNetworkPassesOnEightDevices() {
    everyNetworkPasses(8);
  }

  private static void everyNetworkPasses(int devices) {
    Path folder =
        SharedFolder.require(
            "peer-suite",
            "copy folders of DeeployTest/Tests from https://github.com/pulp-platform/Deeploy");
    CaseRunner runner =
        new CaseRunner(
            Target.JAVA.runner(Distribution.strategy(devices, null).map(Sharding::of)),
            StandardPasses.forChecking(Target.JAVA),
            Tolerance.DEFAULT);
    List<CaseResult> results = TestCase.find(folder).stream().map(runner::run).toList();
    assertThat(results)
        .isNotEmpty()
        .allSatisfy(
            result ->
                assertThat(result.status()).as(result.line()).isEqualTo(CaseResult.Status.PASS));
  }
}
