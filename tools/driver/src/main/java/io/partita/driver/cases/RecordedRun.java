package io.partita.driver.cases;

import io.partita.driver.DriverCode;
import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * Recorded inputs and outputs of one run of a model.
 *
 * @param name the name of the run, empty if a case has only one
 */
record RecordedRun(String name, List<RecordedArray> inputs, List<RecordedArray> outputs) {

  /**
   * The recorded inputs by the model's names: matched by name if all of the model's inputs are
   * recorded under their names, else by order. Additional records (weights, in some suites) are
   * ignored.
   */
  Map<String, Tensor> inputsFor(List<String> names) {
    return named(names, inputs, "input");
  }

  Map<String, Tensor> outputsFor(List<String> names) {
    return named(names, outputs, "output");
  }

  /** Whether it comes from NumPy archives, whose element types may differ from the model's. */
  boolean isArchive() {
    return name.isEmpty();
  }

  /** Whether the inputs of these names and all outputs are integers that fit i32. */
  boolean isIntegral(List<String> inputNames) {
    return inputsFor(inputNames).values().stream().allMatch(RecordedRun::isIntegral)
        && outputs.stream().allMatch(output -> isIntegral(output.data()));
  }

  private static boolean isIntegral(Tensor data) {
    for (int i = 0; i < data.size(); i++) {
      double value = data.getDouble(i);
      if (value != (int) value) {
        return false;
      }
    }
    return true;
  }

  private Map<String, Tensor> named(List<String> names, List<RecordedArray> arrays, String kind) {
    Map<String, Tensor> byName =
        arrays.stream()
            .filter(array -> !array.name().isEmpty())
            .collect(Collectors.toMap(RecordedArray::name, RecordedArray::data, (a, b) -> a));
    Map<String, Tensor> result = new LinkedHashMap<>();
    if (byName.keySet().containsAll(names)) {
      names.forEach(name -> result.put(name, byName.get(name)));
      return result;
    }
    if (arrays.size() < names.size()) {
      throw new PartitaException(
          DriverCode.CASE_MISMATCH,
          "recorded " + kind + "s" + (name.isEmpty() ? "" : " of " + name),
          names.size() + " " + kind + "s: " + String.join(", ", names),
          arrays.size()
              + ": "
              + arrays.stream().map(RecordedArray::name).collect(Collectors.joining(", ")),
          "record each " + kind + " of the model, by name or in the model's order");
    }
    for (int i = 0; i < names.size(); i++) {
      result.put(names.get(i), arrays.get(i).data());
    }
    return result;
  }

  /**
   * Converts recorded data to the element type that the model declares, since suites record integer
   * networks in arbitrary array types.
   */
  static Tensor fit(String name, Tensor data, TensorType declared) {
    Tensor fitted = converted(name, data, declared);
    return sameBut1(data.shape(), declared.shape()) ? fitted.reshaped(declared.shape()) : fitted;
  }

  /** Converts recorded data to the element type that the model declares, as {@link #fit}. */
  static Tensor converted(String name, Tensor data, TensorType declared) {
    ElementType to = declared.element();
    if (data.element() == to) {
      return data;
    }
    TensorType type = data.type().with(to);
    Tensor converted =
        data.element().isFloat()
            ? Tensor.ofDoubles(type, data.doubles())
            : Tensor.ofLongs(type, data.longs());
    for (int i = 0; i < data.size(); i++) {
      if (!holds(to, converted.getDouble(i), data.element(), data.getDouble(i))) {
        throw new PartitaException(
            DriverCode.CASE_MISMATCH,
            "recorded input '" + name + "'",
            "values that " + to + " holds",
            data.getDouble(i) + " in an array of " + data.element(),
            "record it as " + to);
      }
    }
    return converted;
  }

  /** Whether a converted value is the given one; floats may be rounded, but not to infinity. */
  private static boolean holds(ElementType to, double value, ElementType from, double given) {
    return from.isFloat() && to.isFloat()
        ? Double.isFinite(value) || !Double.isFinite(given)
        : value == given;
  }

  /** Whether two static shapes are equal except for extents of 1. */
  static boolean sameBut1(Shape left, Shape right) {
    return left.isStatic() && right.isStatic() && withoutOnes(left).equals(withoutOnes(right));
  }

  private static Shape withoutOnes(Shape shape) {
    return new Shape(shape.dims().stream().filter(dim -> !dim.is(1)).toList());
  }
}
