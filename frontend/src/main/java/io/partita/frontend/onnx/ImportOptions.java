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
 * What the user fixes about a model when importing it.
 *
 * @param dims extent by dimension symbol: {@code --dim seq=128}
 * @param values value by graph input, which becomes a constant: {@code --bind shape=2,3}
 * @param shapes shape by graph input; binds the symbols that stand in the input's declared shape
 * @param recorded the value of a graph input that turns out to determine a shape, which makes it a
 *     constant; none where it's not known
 * @param integerData whether all recorded data are integral: a network whose constants and
 *     operators are so too is then one of integers, whatever types it states
 * @param departs whether to compute as ONNX Runtime does where it doesn't compute exactly what the
 *     standard says ({@link RuntimeDeviation})
 * @param choice whether a model fits the numbers that the import chose because it can't do without
 *     them, such as sizes of images; none where it doesn't choose
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

  /** With numbers that the import chooses, where it can't do without. */
  public ImportOptions choosingNumbers() {
    return choosingNumbers(graph -> true);
  }

  /**
   * As {@link #choosingNumbers()}.
   *
   * @param fits whether the model may have such numbers, as far as the import doesn't know
   */
  public ImportOptions choosingNumbers(Predicate<Graph> fits) {
    return new ImportOptions(
        dims, values, shapes, recorded, integerData, departs, Optional.of(fits));
  }
}
