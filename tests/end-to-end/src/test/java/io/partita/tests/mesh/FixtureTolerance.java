package io.partita.tests.mesh;

import com.fasterxml.jackson.jr.ob.JSON;
import io.partita.driver.cases.TestCase;
import io.partita.driver.cases.Tolerance;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Map;
import java.util.OptionalDouble;

/** How far a fixture's results may be from the recorded ones. */
final class FixtureTolerance {
  private FixtureTolerance() {}

  /** What the fixture's maker allows a correct compiler; in parts, sums are rounded once more. */
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
