package io.partita.tests.recorded;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The test networks of Deeploy, a compiler for the same chips, with their recorded results. */
class PeerSuiteTest {
  /**
   * One in this many networks runs as emitted Java by default. {@link DistributedPeerSuiteTest}
   * runs others on several devices.
   */
  private static final int COMPILED = 4;

  static Suite networks() {
    return new Suite(
        SharedFolder.require(
            "peer-suite",
            "copy folders of DeeployTest/Tests from https://github.com/pulp-platform/Deeploy"));
  }

  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "JAVA")
  void everyNetworkPasses(Route route) {
    networks().check(route);
  }

  @Test
  void sampledNetworksPassInJava() {
    networks().check(Route.JAVA, number -> number % COMPILED == 2);
  }

  @Tag("thorough")
  @Test
  void otherNetworksPassInJava() {
    networks().check(Route.JAVA, number -> number % COMPILED != 2);
  }
}
