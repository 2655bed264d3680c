package io.partita.tests.recorded;

import io.partita.driver.Distribution;
import io.partita.driver.Sharding;
import io.partita.driver.StandardPasses;
import io.partita.driver.Target;
import io.partita.driver.cases.CaseRunner;
import io.partita.driver.cases.Tolerance;
import java.util.function.IntPredicate;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * The test networks of Deeploy on several devices, each a thread: integers are bit-identical to the
 * recorded ones, floats within the tolerance of one device.
 */
class DistributedPeerSuiteTest {
  /** One in this many networks is tested by default. */
  private static final int REPRESENTATIVE = 8;

  /** One in this many is among the thorough tests. */
  private static final int THOROUGH = 16;

  @Test
  void sampledNetworksPassOnThreeDevices() {
    pass(3, number -> number % REPRESENTATIVE == 0);
  }

  @Tag("exhaustive")
  @Test
  void otherNetworksPassOnThreeDevices() {
    pass(3, number -> number % REPRESENTATIVE != 0);
  }

  @Tag("thorough")
  @Test
  void sampledNetworksPassOnEightDevices() {
    pass(8, number -> number % THOROUGH == 1);
  }

  @Tag("exhaustive")
  @Test
  void moreNetworksPassOnEightDevices() {
    pass(8, number -> number % REPRESENTATIVE == 1 && number % THOROUGH != 1);
  }

  private static void pass(int devices, IntPredicate chosen) {
    CaseRunner runner =
        new CaseRunner(
            Target.JAVA.runner(Distribution.strategy(devices, null).map(Sharding::of)),
            StandardPasses.forChecking(Target.JAVA),
            Tolerance.DEFAULT);
    PeerSuiteTest.networks().check("the suite on " + devices + " devices", runner, chosen);
  }
}
