package io.partita.tests.recorded;

import java.util.Map;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** ONNX's own node tests, whose expected results come from its reference implementation. */
class ConformanceTest {
  /** Cases that don't pass, and the reason. */
  private static final Map<String, String> EXCEPTIONS = Map.of();

  @ParameterizedTest
  @EnumSource
  void everyCasePasses(Route route) {
    new Suite(
            SharedFolder.require(
                "conformance/onnx-node",
                "dump the cases of onnx.backend.test.case.node, of the Python package onnx 1.23.2,"
                    + " as NAME/model.onnx and NAME/test_data_set_0/{input,output}_I.pb"))
        .check(route, EXCEPTIONS);
  }
}
