package io.partita.frontend.onnx.operator;

import static io.partita.frontend.onnx.operator.QuantizedValues.binary;
import static io.partita.frontend.onnx.operator.QuantizedValues.cast;
import static io.partita.frontend.onnx.operator.QuantizedValues.channelwise;
import static io.partita.frontend.onnx.operator.QuantizedValues.reshape;
import static io.partita.frontend.onnx.operator.QuantizedValues.scalarIfSingle;

import io.partita.frontend.onnx.NodeScope;
import io.partita.ir.graph.Value;
import io.partita.ir.op.BinaryFunction;
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

/** Products of quantised tensors, summed exactly in i32. */
final class IntegerProducts {
  private IntegerProducts() {}

  /** An operand and its zero point, none where that is zero. */
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
   * {@code (a - za) (b - zb)} by NumPy's rule of matmul. The narrow operands are multiplied as they
   * are: {@code a b - za Σ_k b - zb Σ_k a + k za zb}, exact modulo 2^32; a constant's sum folds.
   */
  static Value matMul(NodeScope node, Factor left, Factor right) {
    boolean row = left.q().type().rank() == 1;
    boolean column = right.q().type().rank() == 1;
    Value a = row ? reshape(node, left.q(), left.q().type().shape().insert(0, Dim.ONE)) : left.q();
    Value b =
        column ? reshape(node, right.q(), right.q().type().shape().insert(1, Dim.ONE)) : right.q();
    Value product = node.add(new Contraction.MatMul(ElementType.I32), a, b);
    Optional<Value> za = left.zeroPoint().map(value -> rowwise(node, value));
    Optional<Value> zb =
        right.zeroPoint().map(value -> cast(node, scalarIfSingle(node, value), ElementType.I32));
    if (za.isPresent()) {
      Value sums = binary(node, BinaryFunction.MUL, za.get(), sum(node, b, b.type().rank() - 2));
      product = binary(node, BinaryFunction.SUB, product, sums);
    }
    if (zb.isPresent()) {
      Value sums = sum(node, a, a.type().rank() - 1);
      if (za.isPresent()) {
        Value inner = extent(node, a.type().shape().fromEnd(0));
        Value offset = binary(node, BinaryFunction.MUL, za.get(), inner);
        sums = binary(node, BinaryFunction.SUB, sums, offset);
      }
      product =
          binary(
              node, BinaryFunction.SUB, product, binary(node, BinaryFunction.MUL, sums, zb.get()));
    }
    return reshape(node, product, withoutAdded(product.type().shape(), row, column));
  }

  private static Shape withoutAdded(Shape shape, boolean row, boolean column) {
    Shape result = column ? shape.without(shape.rank() - 1) : shape;
    return row ? result.without(result.rank() - (column ? 1 : 2)) : result;
  }

  /** A zero point or scale of the left operand: a vector has an element for each row. */
  static Value rowwise(NodeScope node, Value value) {
    Value single = scalarIfSingle(node, value);
    Value shaped =
        single.type().rank() == 1
            ? reshape(node, single, single.type().shape().insert(1, Dim.ONE))
            : single;
    return shaped.type().element().isInteger() ? cast(node, shaped, ElementType.I32) : shaped;
  }

  private static Value sum(NodeScope node, Value value, int axis) {
    return node.add(
        new Reduction.Reduce(Reduction.ReduceKind.SUM, List.of(axis), true),
        cast(node, value, ElementType.I32));
  }

  private static Value extent(NodeScope node, Dim dim) {
    return dim.isStatic()
        ? node.constant(Tensor.scalar(ElementType.I32, dim.value()))
        : cast(node, node.add(new io.partita.ir.op.Source.Extent(dim)), ElementType.I32);
  }

  /**
   * The convolution of {@code x - zx} with {@code w - zw}, padded with zeros after the subtraction.
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
        : reshape(node, channels, channels.type().shape().concat(Shape.of(1)));
  }

  /** {@code q - zeroPoint} as i16, which holds any difference of bytes; q itself without one. */
  private static Value shifted(
      NodeScope node, Factor factor, java.util.function.UnaryOperator<Value> shape) {
    if (factor.zeroPoint().isEmpty()) {
      return factor.q();
    }
    Value zeroPoint = shape.apply(scalarIfSingle(node, factor.zeroPoint().get()));
    return binary(
        node,
        BinaryFunction.SUB,
        cast(node, factor.q(), ElementType.I16),
        cast(node, zeroPoint, ElementType.I16));
  }

  /** The window that the attributes of a convolution describe. */
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

  /** {@code value} with its last two dimensions exchanged. */
  static Value transposed(NodeScope node, Value value) {
    int rank = value.type().rank();
    List<Integer> permutation = new ArrayList<>();
    for (int axis = 0; axis < rank; axis++) {
      permutation.add(axis < rank - 2 ? axis : 2 * rank - 3 - axis);
    }
    return node.add(new Movement.Transpose(permutation), value);
  }
}
