package io.partita.tests.hostile;

import java.nio.file.Path;

/** Paths relative to the folder of this module, in which the tests run. */
final class Repository {
  static final Path FIXTURES = Path.of("..", "fixtures");
  static final Path CONFORMANCE = Path.of("..", "..", "..", "shared", "conformance", "onnx-node");

  private Repository() {}
}
