package io.partita.tests.recorded;

import java.util.Map;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The test networks of Deeploy, a compiler for the same chips, with their recorded results. */
class PeerSuiteTest {
  /** Networks that don't pass, and the reason. */
  private static final Map<String, String> EXCEPTIONS = Map.of();

  @ParameterizedTest
  @EnumSource
  void everyNetworkPasses(Route route) {
    new Suite(
            SharedFolder.require(
                "peer-suite",
                "copy folders of DeeployTest/Tests from https://github.com/pulp-platform/Deeploy"))
        .check(route, EXCEPTIONS);
  }
}
