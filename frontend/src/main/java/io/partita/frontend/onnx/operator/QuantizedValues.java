package io.partita.frontend.onnx.operator;

import io.partita.frontend.onnx.NodeScope;
import io.partita.ir.function.BinaryFunction;
import io.partita.ir.function.ReductionKind;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Quantized;
import io.partita.ir.op.Reduction;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.Dim;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

/** Helpers of importers of quantised operators for scales, zero points and conversions. */
final class QuantizedValues {
  private static final long MAX_FILLED = 1 << 24;

  private QuantizedValues() {}

  /** Returns a tensor of one element as a scalar, and other tensors unchanged. */
  static Value scalarIfSingle(NodeScope node, Value value) {
    Shape shape = value.type().shape();
    return shape.isStatic() && shape.elements() == 1
        ? new Arithmetic(node).reshape(value, Shape.SCALAR)
        : value;
  }

  /**
   * Returns the scale in operand {@code input}. A known scale must not be NaN, and must be positive
   * if {@code divides}. Dequantising by a negative scale or zero is valid, and block quantisers
   * write such scales; quantisers that observe an infinite mask write a scale of infinity.
   */
  static Value scale(NodeScope node, int input, boolean divides) {
    Value scale = node.input(input);
    if (!scale.type().element().isFloat()) {
      throw node.invalid("a floating-point scale", scale.type().toString());
    }
    Optional<Tensor> known = node.constant(input);
    for (int i = 0; known.isPresent() && i < known.get().size(); i++) {
      double value = known.get().getDouble(i);
      if (Double.isNaN(value) || divides && value <= 0) {
        throw node.invalid(
            divides ? "a positive scale" : "a scale that is a number", "a scale of " + value);
      }
    }
    return scalarIfSingle(node, scale);
  }

  /**
   * Returns the zero point in operand {@code input}, or zeros of {@code element} in the shape of
   * the scale.
   */
  static Value zeroPoint(NodeScope node, int input, Value scale, ElementType element) {
    if (!node.has(input)) {
      return zeros(node, element, scale.type().shape());
    }
    Value zeroPoint = scalarIfSingle(node, node.input(input));
    if (zeroPoint.type().rank() == 0 && scale.type().rank() > 0) {
      return node.add(new Movement.Broadcast(scale.type().shape()), zeroPoint);
    }
    return zeroPoint;
  }

  static Value zeros(NodeScope node, ElementType element, Shape shape) {
    return filled(node, new TensorType(element, shape), 0);
  }

  /** Returns a constant or broadcast of one value, depending on its size. */
  static Value filled(NodeScope node, TensorType type, double value) {
    boolean isData = type.isPossible() && type.isStatic() && type.shape().elements() <= MAX_FILLED;
    return isData
        ? node.constant(Tensor.filled(type, value))
        : node.add(
            new Movement.Broadcast(type.shape()),
            node.constant(Tensor.scalar(type.element(), value)));
  }

  /** Whether operand {@code input} is missing or known to be zero. */
  static boolean isZero(NodeScope node, int input) {
    return !node.has(input)
        || node.constant(input).map(tensor -> tensor.isFilledWith(0)).orElse(false);
  }

  static Value quantize(NodeScope node, Value x, Value scale, Value zeroPoint, int axis) {
    ElementType to = zeroPoint.type().element();
    return node.add(new Quantized.Quantize(axis, 0, to), x, scale, zeroPoint);
  }

  /**
   * Dequantises by a scale and a zero point of the whole tensor in operands {@code first} and the
   * next.
   */
  static Value dequantize(NodeScope node, Value q, int first) {
    Value scale = scale(node, first, false);
    Value zeroPoint = zeroPoint(node, first + 1, scale, q.type().element());
    return node.add(new Quantized.Dequantize(0, 0, scale.type().element()), q, scale, zeroPoint);
  }

  /**
   * Quantises to the scale and zero point of the whole tensor in operands {@code first} and the
   * next.
   */
  static Value quantize(NodeScope node, Value x, int first) {
    Value scale = scale(node, first, true);
    Value zeroPoint = zeroPoint(node, first + 1, scale, ElementType.U8);
    return quantize(node, x, scale, zeroPoint, 0);
  }

  /**
   * {@code saturate(round(accumulator multiplier) + zeroPoint)}: the multiplier is one factor
   * before rounding, as in ONNX Runtime, so that integers are equal.
   */
  static Value requantize(NodeScope node, Value accumulator, Value multiplier, Value zeroPoint) {
    Arithmetic of = new Arithmetic(node);
    ElementType real = multiplier.type().element();
    Value product = of.mul(of.cast(accumulator, real), multiplier);
    Value one = node.constant(Tensor.scalar(real, 1));
    return quantize(node, product, one, scalarIfSingle(node, zeroPoint), 0);
  }

  /** Quantises {@code x} to u8 by its range, like ONNX DynamicQuantizeLinear. */
  record Dynamic(Value q, Value scale, Value zeroPoint) {
    static Dynamic of(NodeScope node, Value x) {
      Arithmetic of = new Arithmetic(node);
      List<Integer> axes = IntStream.range(0, x.type().rank()).boxed().toList();
      Value zero = node.scalarLike(x, 0);
      Value low = of.min(node.add(new Reduction.Reduce(ReductionKind.MIN, axes, false), x), zero);
      Value high = of.max(node.add(new Reduction.Reduce(ReductionKind.MAX, axes, false), x), zero);
      Value range = of.sub(high, low);
      Value step = of.div(range, node.scalarLike(x, 255));
      // A tensor of zeros has no range, so any scale is valid.
      Value empty = of.binary(BinaryFunction.EQUAL, range, zero);
      Value scale = node.add(new Elementwise.Select(), empty, node.scalarLike(x, 1), step);
      Value negated =
          node.add(new Elementwise.Unary(io.partita.ir.function.UnaryFunction.NEG), low);
      Value origin = node.constant(Tensor.scalar(ElementType.U8, 0));
      Value zeroPoint = quantize(node, negated, scale, origin, 0);
      return new Dynamic(quantize(node, x, scale, zeroPoint, 0), scale, zeroPoint);
    }
  }

  /** Reshapes a vector so that it broadcasts along axis 1 of rank n. */
  static Value channelwise(NodeScope node, Value value, int rank) {
    if (value.type().rank() != 1) {
      return value;
    }
    List<Dim> dims = new ArrayList<>(List.of(value.type().dim(0)));
    while (dims.size() < rank - 1) {
      dims.add(Dim.ONE);
    }
    return new Arithmetic(node).reshape(value, new Shape(dims));
  }
}
