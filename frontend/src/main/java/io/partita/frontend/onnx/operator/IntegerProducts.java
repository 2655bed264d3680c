package io.partita.frontend.onnx.operator;

import static io.partita.frontend.onnx.operator.QuantizedValues.channelwise;
import static io.partita.frontend.onnx.operator.QuantizedValues.scalarIfSingle;

import io.partita.frontend.onnx.NodeScope;
import io.partita.ir.function.ReductionKind;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Contraction;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Reduction;
import io.partita.ir.op.Window;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.Dim;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Products of quantised tensors with exact sums in i32. */
final class IntegerProducts {
  private IntegerProducts() {}

  /** An operand and its zero point, which is empty if zero. */
  record Factor(Value q, Optional<Value> zeroPoint) {
    static Factor of(NodeScope node, int q, int zeroPoint) {
      return new Factor(
          node.input(q),
          QuantizedValues.isZero(node, zeroPoint)
              ? Optional.empty()
              : Optional.of(node.input(zeroPoint)));
    }
  }

  /**
   * Computes the NumPy product {@code (a - za) (b - zb)}. Narrow operands are multiplied directly:
   * {@code a b - za Σ_k b - zb Σ_k a + k za zb}, exact modulo 2^32; sums of constants fold.
   */
  static Value matMul(NodeScope node, Factor left, Factor right) {
    Arithmetic of = new Arithmetic(node);
    boolean row = left.q().type().rank() == 1;
    boolean column = right.q().type().rank() == 1;
    Value a = row ? of.reshape(left.q(), left.q().type().shape().insert(0, Dim.ONE)) : left.q();
    Value b =
        column ? of.reshape(right.q(), right.q().type().shape().insert(1, Dim.ONE)) : right.q();
    Value product = node.add(new Contraction.MatMul(ElementType.I32), a, b);
    Optional<Value> za = left.zeroPoint().map(value -> rowwise(node, value));
    Optional<Value> zb =
        right.zeroPoint().map(value -> of.cast(scalarIfSingle(node, value), ElementType.I32));
    if (za.isPresent()) {
      Value sums = of.mul(za.get(), sum(node, b, b.type().rank() - 2));
      product = of.sub(product, sums);
    }
    if (zb.isPresent()) {
      Value sums = sum(node, a, a.type().rank() - 1);
      if (za.isPresent()) {
        Value inner = extent(node, a.type().shape().fromEnd(0));
        Value offset = of.mul(za.get(), inner);
        sums = of.sub(sums, offset);
      }
      product = of.sub(product, of.mul(sums, zb.get()));
    }
    return of.reshape(product, withoutAdded(product.type().shape(), row, column));
  }

  private static Shape withoutAdded(Shape shape, boolean row, boolean column) {
    Shape result = column ? shape.without(shape.rank() - 1) : shape;
    return row ? result.without(result.rank() - (column ? 1 : 2)) : result;
  }

  /** Returns a zero point or scale of the left operand; a vector has an element per row. */
  static Value rowwise(NodeScope node, Value value) {
    Arithmetic of = new Arithmetic(node);
    Value single = scalarIfSingle(node, value);
    Value shaped =
        single.type().rank() == 1
            ? of.reshape(single, single.type().shape().insert(1, Dim.ONE))
            : single;
    return shaped.type().element().isInteger() ? of.cast(shaped, ElementType.I32) : shaped;
  }

  private static Value sum(NodeScope node, Value value, int axis) {
    return node.add(
        new Reduction.Reduce(ReductionKind.SUM, List.of(axis), true),
        new Arithmetic(node).cast(value, ElementType.I32));
  }

  /** Returns the extent of a dimension as i32. */
  static Value extent(NodeScope node, Dim dim) {
    return dim.isStatic()
        ? node.constant(Tensor.scalar(ElementType.I32, dim.value()))
        : new Arithmetic(node)
            .cast(node.add(new io.partita.ir.op.Source.Extent(dim)), ElementType.I32);
  }

  /**
   * Computes the convolution of {@code x - zx} with {@code w - zw}; padding has zeros after the
   * subtraction.
   */
  static Value convolution(NodeScope node, Factor x, Factor weight, Optional<Value> bias) {
    Value data = shifted(node, x, scalar -> scalar);
    int rank = data.type().rank();
    Value kernel =
        shifted(
            node, weight, value -> value.type().rank() == 1 ? outermost(node, value, rank) : value);
    Window window = window(node, data.type().shape(), kernel.type().shape());
    long groups = node.integer("group", 1);
    List<Value> operands = new ArrayList<>(List.of(data, kernel));
    bias.ifPresent(operands::add);
    return node.add(
        new Contraction.Convolution(window, groups, bias.isPresent(), ElementType.I32), operands);
  }

  private static Value outermost(NodeScope node, Value value, int rank) {
    Value channels = channelwise(node, value, rank);
    return channels.type().rank() == rank
        ? channels
        : new Arithmetic(node).reshape(channels, channels.type().shape().concat(Shape.of(1)));
  }

  /**
   * Returns {@code q - zeroPoint} as i16, which represents any difference of bytes; q if there is
   * no zero point.
   */
  private static Value shifted(
      NodeScope node, Factor factor, java.util.function.UnaryOperator<Value> shape) {
    if (factor.zeroPoint().isEmpty()) {
      return factor.q();
    }
    Value zeroPoint = shape.apply(scalarIfSingle(node, factor.zeroPoint().get()));
    return new Arithmetic(node)
        .sub(
            new Arithmetic(node).cast(factor.q(), ElementType.I16),
            new Arithmetic(node).cast(zeroPoint, ElementType.I16));
  }

  /** Returns the window of the attributes of a convolution. */
  static Window window(NodeScope node, Shape data, Shape weight) {
    if (data.rank() < 3 || weight.rank() != data.rank()) {
      throw node.invalid("data and a weight of one rank from 3 on", data + " and " + weight);
    }
    List<Long> kernel = new ArrayList<>();
    for (int axis = 2; axis < weight.rank(); axis++) {
      kernel.add(weight.dim(axis).value());
    }
    return WindowAttributes.of(node, kernel).over(node, data);
  }

  /** Transposes the last two dimensions. */
  static Value transposed(NodeScope node, Value value) {
    int rank = value.type().rank();
    List<Integer> permutation = new ArrayList<>();
    for (int axis = 0; axis < rank; axis++) {
      permutation.add(axis < rank - 2 ? axis : 2 * rank - 3 - axis);
    }
    return node.add(new Movement.Transpose(permutation), value);
  }
}
