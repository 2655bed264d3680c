package io.partita.backend.metalium;

import io.partita.backend.emitted.probe.Agreement;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;
import java.util.OptionalInt;
import java.util.function.DoubleUnaryOperator;

/**
 * The numbers that each element of a tensor may be. Floats are in f64, so that bounds of the
 * elements of any format can be written; integers keep their type.
 */
record Intervals(Tensor low, Tensor high) {
  /** Elements that are known. */
  static Intervals exactly(Tensor tensor) {
    Tensor wide =
        tensor.element().isFloat() && tensor.element() != ElementType.F64
            ? Tensor.ofDoubles(tensor.type().with(ElementType.F64), tensor.doubles())
            : tensor;
    return new Intervals(wide, wide);
  }

  static Intervals of(TensorType type, Interval[] elements) {
    double[] low = new double[elements.length];
    double[] high = new double[elements.length];
    for (int i = 0; i < elements.length; i++) {
      low[i] = elements[i].low();
      high[i] = elements[i].high();
    }
    return new Intervals(Tensor.ofDoubles(type, low), Tensor.ofDoubles(type, high));
  }

  TensorType type() {
    return low.type();
  }

  boolean isExact() {
    return low == high || low.equals(high);
  }

  Interval[] elements() {
    double[] least = low.doubles();
    double[] most = high.doubles();
    Interval[] elements = new Interval[least.length];
    for (int i = 0; i < elements.length; i++) {
      elements[i] = new Interval(least[i], most[i]);
    }
    return elements;
  }

  /** The same elements in another shape, or the only one in all places. */
  Intervals broadcastTo(Shape shape) {
    return new Intervals(broadcast(low, shape), broadcast(high, shape));
  }

  private static Tensor broadcast(Tensor tensor, Shape shape) {
    return tensor.size() == 1
        ? Tensor.filled(tensor.type().with(shape), tensor.getDouble(0))
        : tensor.reshaped(shape);
  }

  /** The images of all numbers by a function that keeps their order. */
  Intervals map(DoubleUnaryOperator increasing) {
    Tensor least = mapped(low, increasing);
    return new Intervals(least, isExact() ? least : mapped(high, increasing));
  }

  private static Tensor mapped(Tensor tensor, DoubleUnaryOperator function) {
    double[] elements = tensor.doubles().clone();
    for (int i = 0; i < elements.length; i++) {
      elements[i] = function.applyAsDouble(elements[i]);
    }
    return Tensor.ofDoubles(tensor.type(), elements);
  }

  /** Numbers that may be off by a share of the reference, and of its largest element. */
  Intervals widened(Tensor expected, double share) {
    double[] reference = expected.doubles();
    double scale = 0;
    for (double each : reference) {
      scale = Double.isFinite(each) ? Math.max(scale, Math.abs(each)) : scale;
    }
    Interval[] elements = elements();
    for (int i = 0; i < elements.length; i++) {
      double magnitude = Double.isFinite(reference[i]) ? Math.abs(reference[i]) : 0;
      elements[i] = elements[i].widened(share * (magnitude + scale));
    }
    return of(type(), elements);
  }

  /** The numbers of both. */
  Intervals or(Intervals other) {
    double[] least = low.doubles().clone();
    double[] most = high.doubles().clone();
    for (int i = 0; i < least.length; i++) {
      least[i] = Math.min(least[i], other.low.getDouble(i));
      most[i] = Math.max(most[i], other.high.getDouble(i));
    }
    return new Intervals(Tensor.ofDoubles(type(), least), Tensor.ofDoubles(type(), most));
  }

  /**
   * Compares what a kernel computed.
   *
   * @param expected the reference, from which errors are measured
   */
  Agreement agreement(Tensor expected, Tensor found) {
    int first = -1;
    int wrong = 0;
    double largest = 0;
    double scale = 0;
    for (int i = 0; i < found.size(); i++) {
      double want = expected.getDouble(i);
      double have = found.getDouble(i);
      scale = Double.isFinite(want) ? Math.max(scale, Math.abs(want)) : scale;
      boolean isWithin = low.getDouble(i) <= have && have <= high.getDouble(i);
      if (!isWithin && Double.compare(want, have) != 0) {
        first = first < 0 ? i : first;
        wrong++;
      } else if (Double.isFinite(want)) {
        largest = Math.max(largest, Math.abs(have - want));
      }
    }
    return new Agreement(
        first < 0 ? OptionalInt.empty() : OptionalInt.of(first),
        wrong,
        scale == 0 ? largest : largest / scale);
  }

  /** An element as text. */
  String text(int index) {
    String least = Agreement.text(low, index);
    return isExact() ? least : least + " to " + Agreement.text(high, index);
  }
}
