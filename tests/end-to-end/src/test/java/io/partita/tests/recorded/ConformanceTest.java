package io.partita.tests.recorded;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** ONNX's own node tests, whose expected results come from its reference implementation. */
class ConformanceTest {
  /** One in this many cases runs as emitted Java by default; most of its time is javac's. */
  private static final int COMPILED = 8;

  private static Suite cases() {
    return new Suite(
        SharedFolder.require(
            "conformance/onnx-node",
            "dump the cases of onnx.backend.test.case.node, of the Python package onnx 1.23.2, as"
                + " NAME/model.onnx and NAME/test_data_set_0/{input,output}_I.pb"));
  }

  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "JAVA")
  void everyCasePasses(Route route) {
    cases().check(route);
  }

  @Test
  void sampledCasesPassInJava() {
    cases().check(Route.JAVA, number -> number % COMPILED == 0);
  }

  @Tag("thorough")
  @Test
  void otherCasesPassInJava() {
    cases().check(Route.JAVA, number -> number % COMPILED != 0);
  }
}
