package io.partita.passes.graph.raise;

import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Op;
import io.partita.ir.op.Quantized;
import io.partita.ir.op.Source;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.Dim;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;
import java.util.Optional;
import java.util.OptionalDouble;

/**
 * Identifies values that are known at compile time: weights, including those that still have to be
 * converted.
 */
public final class Parameters {
  /** The largest number of operations between a constant and its use as a weight. */
  private static final int MAX_STEPS = 8;

  private Parameters() {}

  /** Whether {@code value} depends on constants only, by movement, dequantisation or arithmetic. */
  public static boolean isParameter(Value value, GraphEditor graph) {
    return isParameter(value, graph, MAX_STEPS);
  }

  private static boolean isParameter(Value value, GraphEditor graph, int steps) {
    Node node = graph.definition(value).orElse(null);
    if (node == null || steps == 0) {
      return false;
    }
    return switch (node.op()) {
      case Source.Constant constant -> true;
      case Movement movement -> areParameters(node, graph, steps);
      case Elementwise elementwise -> areParameters(node, graph, steps);
      case Quantized quantized -> areParameters(node, graph, steps);
      case Op other -> false;
    };
  }

  private static boolean areParameters(Node node, GraphEditor graph, int steps) {
    for (Value operand : node.operands()) {
      if (!isParameter(operand, graph, steps - 1)) {
        return false;
      }
    }
    return true;
  }

  /** Returns the number to which all elements of a constant are equal; empty for other values. */
  public static OptionalDouble uniform(Value value, GraphEditor graph) {
    Tensor data = graph.constant(value).orElse(null);
    if (data == null || data.size() == 0) {
      return OptionalDouble.empty();
    }
    double first = data.getDouble(0);
    return data.size() == 1 || data.isFilledWith(first)
        ? OptionalDouble.of(first)
        : OptionalDouble.empty();
  }

  /**
   * Returns {@code value} reshaped to {@code shape}, or itself if it has that shape. Used to drop
   * outer dimensions of 1.
   */
  public static Value reshaped(Value value, Shape shape, GraphEditor graph) {
    return value.type().shape().equals(shape)
        ? value
        : graph.add(new Movement.Reshape(shape), value);
  }

  /**
   * Returns a weight as a vector of {@code extent} elements; empty unless all other dimensions are
   * 1, or it is a constant that repeats the vector.
   */
  public static Optional<Value> asVector(Value value, Dim extent, GraphEditor graph) {
    Shape vector = Shape.of(extent);
    Shape shape = value.type().shape();
    if (isOneOuter(shape, vector)) {
      return isParameter(value, graph)
          ? Optional.of(reshaped(value, vector, graph))
          : Optional.empty();
    }
    Tensor data = graph.constant(value).orElse(null);
    if (data == null || data.shape().rank() == 0 || !data.shape().fromEnd(0).equals(extent)) {
      return Optional.empty();
    }
    int length = Math.toIntExact(extent.value());
    double[] row = new double[length];
    for (int i = 0; i < data.size(); i++) {
      if (i < length) {
        row[i] = data.getDouble(i);
      } else if (row[i % length] != data.getDouble(i)) {
        return Optional.empty();
      }
    }
    return Optional.of(
        graph.constant(Tensor.ofDoubles(new TensorType(data.element(), vector), row)));
  }

  /** Whether the shape is {@code inner}, apart from outer dimensions of 1. */
  public static boolean isOneOuter(Shape shape, Shape inner) {
    int extra = shape.rank() - inner.rank();
    return extra >= 0
        && shape.range(extra, shape.rank()).equals(inner)
        && shape.range(0, extra).dims().stream().allMatch(dim -> dim.is(1));
  }
}
