package io.partita.backend.emitted.probe;

import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.ElementType;
import java.util.OptionalInt;

/**
 * The difference between a value and the reference.
 *
 * @param first the row-major index of the first wrong element
 * @param wrong the number of wrong elements
 * @param largest the largest error of the others, relative to the largest magnitude of the
 *     reference
 */
public record Agreement(OptionalInt first, int wrong, double largest) {
  private static final Agreement EXACT = new Agreement(OptionalInt.empty(), 0, 0);

  /**
   * Integers must be equal. A float may differ by the tolerance times its magnitude plus the
   * tolerance times the largest magnitude of the value: where large terms cancel, the rounding of
   * their sum is relative to their size.
   *
   * @param tolerance the tolerance for f32; less precise types have larger ones
   */
  public static Agreement of(Tensor expected, Tensor found, double tolerance) {
    if (expected.equals(found)) {
      return EXACT;
    }
    ElementType element = expected.element();
    if (!element.isFloat()) {
      return ofIntegers(expected, found);
    }
    double allowed = Math.max(tolerance, leastTolerance(element));
    double scale = 0;
    for (int i = 0; i < expected.size(); i++) {
      double magnitude = Math.abs(expected.getDouble(i));
      scale = Double.isFinite(magnitude) ? Math.max(scale, magnitude) : scale;
    }
    int first = -1;
    int wrong = 0;
    double largest = 0;
    for (int i = 0; i < expected.size(); i++) {
      double want = expected.getDouble(i);
      double have = found.getDouble(i);
      if (Double.compare(want, have) == 0 || want == have) {
        continue;
      }
      double error = Math.abs(want - have);
      if (Double.isFinite(want) && error <= allowed * Math.abs(want) + allowed * scale) {
        largest = Math.max(largest, error / scale);
      } else {
        first = first < 0 ? i : first;
        wrong++;
      }
    }
    return new Agreement(first < 0 ? OptionalInt.empty() : OptionalInt.of(first), wrong, largest);
  }

  /** The tolerance of types less precise than f32, a few units in the last place. */
  private static double leastTolerance(ElementType element) {
    return element == ElementType.F16 ? 0x1p-9 : element == ElementType.BF16 ? 0x1p-6 : 0;
  }

  private static Agreement ofIntegers(Tensor expected, Tensor found) {
    int first = -1;
    int wrong = 0;
    for (int i = 0; i < expected.size(); i++) {
      if (expected.getLong(i) != found.getLong(i)) {
        first = first < 0 ? i : first;
        wrong++;
      }
    }
    return new Agreement(first < 0 ? OptionalInt.empty() : OptionalInt.of(first), wrong, 0);
  }

  /** An element as text. */
  public static String text(Tensor tensor, int index) {
    if (!tensor.element().isFloat()) {
      return Long.toString(tensor.getLong(index));
    }
    double value = tensor.getDouble(index);
    return tensor.element() == ElementType.F64
        ? Double.toString(value)
        : Float.toString((float) value);
  }
}
