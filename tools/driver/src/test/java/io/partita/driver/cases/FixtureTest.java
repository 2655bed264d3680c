package io.partita.driver.cases;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.jr.ob.JSON;
import io.partita.passes.Pipeline;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalDouble;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Compares the fixtures of quantised and fused models with ONNX Runtime. Each states the largest
 * error of a correct compiler, relative to {@code 1 + |expected|}.
 */
class FixtureTest {
  private static final Path FIXTURES = Path.of("../../tests/fixtures");

  @ParameterizedTest
  @ValueSource(strings = {"microsoft", "quantized", "optimized"})
  void everyFixtureAgreesWithTheRecording(String family) throws IOException {
    List<CaseResult> failures = new ArrayList<>();
    List<TestCase> cases = TestCase.find(FIXTURES.resolve(family));
    for (TestCase test : cases) {
      CaseRunner runner =
          new CaseRunner(new EvaluatorRunner(), new Pipeline(List.of()), tolerance(test));
      CaseResult result = runner.run(test);
      if (result.status() != CaseResult.Status.PASS) {
        failures.add(result);
      }
    }
    assertThat(cases).isNotEmpty();
    assertThat(failures).isEmpty();
  }

  private static Tolerance tolerance(TestCase test) throws IOException {
    String text = Files.readString(test.model().resolveSibling("fixture.json"));
    OptionalDouble bound =
        OptionalDouble.of(((Number) JSON.std.mapFrom(text).get("tolerance")).doubleValue());
    return new Tolerance(bound, bound);
  }
}
