package io.partita.tests.mesh;

import com.fasterxml.jackson.jr.ob.JSON;
import io.partita.driver.cases.TestCase;
import io.partita.driver.cases.Tolerance;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Map;
import java.util.OptionalDouble;

/** The tolerance of a fixture's results. */
final class FixtureTolerance {
  private FixtureTolerance() {}

  /** The tolerance recorded in the fixture; split sums are rounded once more. */
  static Tolerance of(TestCase test) {
    try {
      Map<String, Object> facts =
          JSON.std.mapFrom(test.model().resolveSibling("fixture.json").toFile());
      double bound = 2 * ((Number) facts.get("tolerance")).doubleValue();
      return new Tolerance(OptionalDouble.of(bound), OptionalDouble.of(bound));
    } catch (IOException missing) {
      throw new UncheckedIOException(missing);
    }
  }
}
