package io.partita.tests.recorded;

import com.fasterxml.jackson.jr.ob.JSON;
import io.partita.driver.cases.TestCase;
import io.partita.driver.cases.Tolerance;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * Real exports of many architectures beside the repository, with outputs recorded from ONNX
 * Runtime.
 */
final class UserModels {
  static final String FOLDER = "user-models";

  static final String HOW_TO_GET =
      "export small models with random weights and record them with ONNX Runtime, each as a folder"
          + " with network.onnx, inputs.npz, outputs.npz and meta.json";

  /**
   * ONNX's own bounds, 1e-3 relative and 1e-5 absolute: ONNX Runtime's results with and without its
   * optimiser, which are two orders of the same sums, differ by up to 1e-6 of 1 and the value
   * together ({@code optdiff} in {@code meta.json}), and a wrong mask or scale by far more.
   */
  static final Tolerance TOLERANCE = Tolerance.DEFAULT;

  private UserModels() {}

  /** Returns all folders; skips the test with a message if the shared folder is missing. */
  static List<TestCase> require() {
    return TestCase.find(SharedFolder.require(FOLDER, HOW_TO_GET));
  }

  static Path folder(TestCase test) {
    return test.model().getParent();
  }

  /** The tool that wrote the model. */
  static String exporter(TestCase test) {
    Path meta = folder(test).resolve("meta.json");
    try {
      return Files.exists(meta)
          ? JSON.std.mapFrom(meta.toFile()).getOrDefault("exporter", "unknown").toString()
          : "unknown";
    } catch (IOException unreadable) {
      throw new UncheckedIOException(unreadable);
    }
  }

  /** Whether there is a recorded text that the model writes token by token. */
  static boolean writesText(TestCase test) {
    return Files.exists(folder(test).resolve("greedy.txt"));
  }
}
