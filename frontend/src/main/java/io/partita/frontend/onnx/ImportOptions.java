package io.partita.frontend.onnx;

import io.partita.ir.graph.Graph;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.Shape;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Predicate;

/**
 * Options of an import.
 *
 * @param dims extents by dimension symbol: {@code --dim seq=128}
 * @param values values of graph inputs, which become constants: {@code --bind shape=2,3}
 * @param shapes shapes of graph inputs, which bind the symbols of their declared shapes
 * @param recorded returns the recorded value of a graph input that determines a shape, which
 *     becomes a constant; empty if unknown
 * @param integerData whether all recorded data are integral; a network whose constants and
 *     operators are integral, too, is then an integer network, regardless of its declared types
 * @param departs whether to follow ONNX Runtime in its {@link RuntimeDeviation deviations} from the
 *     standard
 * @param choice whether a model is valid with the numbers that the import chose, such as sizes of
 *     images; empty if it chooses none
 */
public record ImportOptions(
    Map<String, Long> dims,
    Map<String, Tensor> values,
    Map<String, Shape> shapes,
    Function<String, Optional<Tensor>> recorded,
    boolean integerData,
    boolean departs,
    Optional<Predicate<Graph>> choice) {
  public static final ImportOptions NONE =
      new ImportOptions(
          Map.of(), Map.of(), Map.of(), input -> Optional.empty(), false, false, Optional.empty());

  public ImportOptions {
    dims = Map.copyOf(dims);
    values = Map.copyOf(values);
    shapes = Map.copyOf(shapes);
  }

  public ImportOptions withDim(String symbol, long extent) {
    Map<String, Long> more = new LinkedHashMap<>(dims);
    more.put(symbol, extent);
    return new ImportOptions(more, values, shapes, recorded, integerData, departs, choice);
  }

  public ImportOptions withValue(String input, Tensor value) {
    Map<String, Tensor> more = new LinkedHashMap<>(values);
    more.put(input, value);
    return new ImportOptions(dims, more, shapes, recorded, integerData, departs, choice);
  }

  public ImportOptions withShape(String input, Shape shape) {
    Map<String, Shape> more = new LinkedHashMap<>(shapes);
    more.put(input, shape);
    return new ImportOptions(dims, values, more, recorded, integerData, departs, choice);
  }

  public ImportOptions bindShapeInputs(Function<String, Optional<Tensor>> supplier) {
    return new ImportOptions(dims, values, shapes, supplier, integerData, departs, choice);
  }

  public ImportOptions withIntegerData() {
    return new ImportOptions(dims, values, shapes, recorded, true, departs, choice);
  }

  public ImportOptions withDepartures() {
    return new ImportOptions(dims, values, shapes, recorded, integerData, true, choice);
  }

  /** Lets the import choose the numbers that it needs. */
  public ImportOptions choosingNumbers() {
    return choosingNumbers(graph -> true);
  }

  /**
   * Like {@link #choosingNumbers()}.
   *
   * @param fits further conditions on the numbers
   */
  public ImportOptions choosingNumbers(Predicate<Graph> fits) {
    return new ImportOptions(
        dims, values, shapes, recorded, integerData, departs, Optional.of(fits));
  }
}
