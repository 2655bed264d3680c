package io.partita.driver.evaluate;

import io.partita.frontend.onnx.DefaultSizes;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.Dim;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * The division of arrays that are named as a model's inputs into samples. An array has the shape of
 * its input for one sample; for several it has one more dimension, or a multiple of the first one.
 * A dynamic batch is 1 unless it is given.
 */
final class SampleShapes {
  private final String where;
  private final Map<String, TensorType> inputs;
  private final Map<String, Dim> batches = new TreeMap<>();
  private final Map<String, Dim> extents = new TreeMap<>();
  private final Map<String, Part> parts = new LinkedHashMap<>();

  /**
   * An array's division.
   *
   * @param shape the shape of the input in each sample
   * @param count the number of samples; one serves all if others have several
   */
  private record Part(Shape shape, long count) {}

  /**
   * @param where the file, for diagnostics
   * @param declared the types of the model's inputs
   * @param dims extents by symbol, among them those of batches
   * @param arrays the arrays by the inputs' names
   * @throws io.partita.ir.diagnostic.PartitaException with {@link MetricCode#DATA} if an array
   *     doesn't fit its input, or the others
   */
  SampleShapes(
      String where,
      Map<String, TensorType> declared,
      Map<String, Long> dims,
      Map<String, Tensor> arrays) {
    this.where = where;
    this.inputs = new LinkedHashMap<>(declared);
    inputs.keySet().retainAll(arrays.keySet());
    declared.values().stream()
        .flatMap(type -> type.shape().dims().stream())
        .flatMap(dim -> dim.symbols().stream())
        .filter(symbol -> DefaultSizes.isBatch(symbol, declared.values()))
        .forEach(symbol -> batches.put(symbol, Dim.of(dims.getOrDefault(symbol, 1L))));
    inputs.forEach((name, type) -> parts.put(name, part(name, type, arrays.get(name).type())));
    requireCounts();
    inputs.forEach(this::bind);
  }

  /** The number of samples. */
  int count() {
    return parts.values().stream().mapToInt(part -> Math.toIntExact(part.count())).max().orElse(1);
  }

  /** The shape of an input that has an array. */
  Shape of(String input) {
    return parts.get(input).shape();
  }

  /** The shape of an input without an array, whose own dimensions are 0. */
  Shape empty(Shape declared) {
    Shape bound = declared.bind(extents).bind(batches);
    Map<String, Dim> own = new TreeMap<>();
    bound.forEach(dim -> dim.symbols().forEach(symbol -> own.put(symbol, Dim.ZERO)));
    return bound.bind(own);
  }

  private Part part(String name, TensorType input, TensorType array) {
    Shape declared = input.shape().bind(batches);
    return divided(declared, array.shape())
        .filter(part -> part.count() > 0 && isSame(declared, part.shape()))
        .orElseThrow(
            () ->
                MetricCode.DATA.at(
                    where + ", array '" + name + "'",
                    "at least one sample of "
                        + declared
                        + ": the input's shape, or for several samples one more dimension before"
                        + " it, or a multiple of its first",
                    array,
                    "give the arrays in the shapes of the inputs: " + text()));
  }

  private static Optional<Part> divided(Shape declared, Shape array) {
    if (array.rank() == declared.rank() + 1) {
      return Optional.of(new Part(array.range(1, array.rank()), array.extent(0)));
    }
    if (array.rank() != declared.rank()) {
      return Optional.empty();
    }
    if (array.rank() == 0 || !declared.dim(0).isStatic()) {
      return Optional.of(new Part(array, 1));
    }
    long batch = Math.max(1, declared.extent(0));
    return array.extent(0) % batch == 0
        ? Optional.of(new Part(array.with(0, Dim.of(batch)), array.extent(0) / batch))
        : Optional.empty();
  }

  private static boolean isSame(Shape declared, Shape given) {
    for (int axis = 0; axis < given.rank(); axis++) {
      Dim dim = declared.dim(axis);
      if (dim.isStatic() && !dim.equals(given.dim(axis))) {
        return false;
      }
    }
    return true;
  }

  private void requireCounts() {
    if (parts.values().stream().anyMatch(part -> part.count() != 1 && part.count() != count())) {
      throw MetricCode.DATA.at(
          where,
          "as many samples in each array, or one that serves all",
          parts.entrySet().stream()
              .map(each -> each.getValue().count() + " of " + each.getKey())
              .collect(Collectors.joining(", ")),
          "give each input as often: " + text());
    }
  }

  private void bind(String name, TensorType input) {
    Shape shape = of(name);
    for (int axis = 0; axis < shape.rank(); axis++) {
      Dim dim = input.shape().dim(axis);
      if (dim.isSymbol()) {
        Dim before = extents.putIfAbsent(dim.toString(), shape.dim(axis));
        if (before != null && !before.equals(shape.dim(axis))) {
          throw MetricCode.DATA.at(
              where + ", array '" + name + "'",
              dim + " = " + before + " in all inputs that have this dimension",
              "samples of " + shape,
              "give arrays of one length: " + text());
        }
      }
    }
  }

  private String text() {
    return inputs.entrySet().stream()
        .map(each -> each.getKey() + ": " + each.getValue())
        .collect(Collectors.joining(", "));
  }
}
