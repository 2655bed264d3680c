package io.partita.tests.recorded;

import com.fasterxml.jackson.jr.ob.JSON;
import io.partita.driver.cases.TestCase;
import io.partita.driver.cases.Tolerance;
import io.partita.driver.npz.Npz;
import io.partita.frontend.onnx.OnnxModel;
import io.partita.ir.tensor.Tensor;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;

/** A network of a real exporter in the repository, with its recorded data. */
record Fixture(TestCase recorded) {
  private static final Path FIXTURES = Path.of("../fixtures");

  static List<Fixture> all() {
    return TestCase.find(FIXTURES).stream().map(Fixture::new).toList();
  }

  Path folder() {
    return recorded.model().getParent();
  }

  OnnxModel model() {
    return OnnxModel.read(recorded.model());
  }

  Map<String, Tensor> inputs() {
    return Npz.read(folder().resolve("inputs.npz"));
  }

  Map<String, Tensor> outputs() {
    return Npz.read(folder().resolve("outputs.npz"));
  }

  /** The error {@code |a-b| / (1+|b|)} that the fixture allows. */
  Tolerance tolerance() {
    double bound = ((Number) facts().get("tolerance")).doubleValue();
    return new Tolerance(OptionalDouble.of(bound), OptionalDouble.of(bound));
  }

  private Map<String, Object> facts() {
    try {
      return JSON.std.mapFrom(folder().resolve("fixture.json").toFile());
    } catch (IOException unreadable) {
      throw new UncheckedIOException(unreadable);
    }
  }

  /** The path of the folder below that of all fixtures. */
  @Override
  public String toString() {
    return FIXTURES.relativize(folder()).toString();
  }
}
