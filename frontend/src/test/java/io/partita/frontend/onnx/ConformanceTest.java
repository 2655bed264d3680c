package io.partita.frontend.onnx;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Runs ONNX's node tests in the importer and the reference evaluator. */
class ConformanceTest {
  /** The shared data, which is beside the repository. */
  private static final Path CASES = Path.of("../../shared/conformance/onnx-node");

  @Test
  void everyNodeTestPasses() throws IOException {
    if (!Files.isDirectory(CASES)) {
      System.err.println("SKIPPED: no ONNX node tests at " + CASES + "; nothing was compared");
    }
    assumeThat(Files.isDirectory(CASES)).as("the folder %s", CASES).isTrue();
    List<String> failures = new ArrayList<>();
    List<ConformanceCase> cases = ConformanceCase.in(CASES);
    for (ConformanceCase test : cases) {
      Optional<String> failure;
      try {
        failure = test.run();
      } catch (RuntimeException bug) {
        failure = Optional.of("a bug: " + bug + " at " + bug.getStackTrace()[0]);
      }
      failure.ifPresent(text -> failures.add(test.name() + ": " + text));
    }
    assertThat(failures).as("of %d cases", cases.size()).isEmpty();
  }
}
