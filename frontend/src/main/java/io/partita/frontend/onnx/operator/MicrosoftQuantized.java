package io.partita.frontend.onnx.operator;

import static io.partita.frontend.onnx.operator.QuantizedValues.dequantize;
import static io.partita.frontend.onnx.operator.QuantizedValues.quantize;
import static io.partita.frontend.onnx.operator.QuantizedValues.scale;

import io.partita.frontend.onnx.NodeScope;
import io.partita.frontend.onnx.operator.IntegerProducts.Factor;
import io.partita.ir.function.ReductionKind;
import io.partita.ir.function.UnaryFunction;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Contraction;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Reduction;
import io.partita.ir.op.Window;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.Dim;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import java.util.ArrayList;
import java.util.List;

/** Operators of com.microsoft on quantised tensors: they dequantise, compute, and quantise. */
final class MicrosoftQuantized {
  private MicrosoftQuantized() {}

  static void register(OperatorRegistry registry) {
    String domain = OperatorRegistry.MICROSOFT;
    registry.add(domain, "QLinearAdd", 1, MicrosoftQuantized::add);
    registry.add(domain, "QLinearMul", 1, MicrosoftQuantized::multiply);
    registry.add(domain, "QLinearSigmoid", 1, single(MicrosoftQuantized::sigmoid));
    registry.add(domain, "QLinearLeakyRelu", 1, single(MicrosoftQuantized::leakyRelu));
    registry.add(domain, "QLinearSoftmax", 1, MicrosoftQuantized::quantizedSoftmax);
    registry.add(domain, "QLinearGlobalAveragePool", 1, MicrosoftQuantized::globalAveragePool);
    registry.add(domain, "QLinearAveragePool", 1, single(MicrosoftQuantized::averagePool));
    registry.add(domain, "QLinearReduceMean", 1, single(MicrosoftQuantized::reduceMean));
    registry.add(domain, "QLinearConcat", 1, MicrosoftQuantized::concat);
    registry.add(domain, "QLinearWhere", 1, MicrosoftQuantized::where);
    registry.add(domain, "QGemm", 1, MicrosoftQuantized::gemm);
  }

  /** Imports a function of the dequantised operand. */
  private interface RealFunction {
    Value apply(NodeScope node, Value x);
  }

  private static OperatorImporter single(RealFunction function) {
    return node -> {
      Value result = function.apply(node, dequantize(node, node.input(0), 1));
      node.output(0, quantize(node, result, 3));
    };
  }

  /**
   * {@code a ra + (b rb + zc - (ra za + rb zb))} with {@code ra = sa / sc}, in f32. If one scale is
   * half the other, real sums lie between two levels, so only the same arithmetic gives the same
   * level.
   */
  private static void add(NodeScope node) {
    Arithmetic of = new Arithmetic(node);
    Value left = ratio(node, 1);
    Value right = ratio(node, 4);
    Value zeroPoint = zeroPoint(node, 7);
    Value zeros =
        of.add(
            of.mul(left, real(node, zeroPoint(node, 2))),
            of.mul(right, real(node, zeroPoint(node, 5))));
    Value fixed = of.sub(real(node, zeroPoint), zeros);
    Value addend = of.add(of.mul(real(node, node.input(3)), right), fixed);
    node.output(
        0, rounded(node, of.add(of.mul(real(node, node.input(0)), left), addend), zeroPoint));
  }

  /** Returns the scale in operand {@code input} divided by that of the sum. */
  private static Value ratio(NodeScope node, int input) {
    return new Arithmetic(node).div(scale(node, input, false), scale(node, 6, true));
  }

  private static Value real(NodeScope node, Value integers) {
    return new Arithmetic(node).cast(integers, ElementType.F32);
  }

  /** Returns the zero point of the whole tensor in operand {@code input}, or zero. */
  private static Value zeroPoint(NodeScope node, int input) {
    return node.has(input)
        ? QuantizedValues.scalarIfSingle(node, node.input(input))
        : node.constant(Tensor.scalar(node.type(0).element(), 0));
  }

  /**
   * Rounds a number that includes the zero point: ONNX Runtime adds the zero point before rounding,
   * which affects halves.
   */
  private static Value rounded(NodeScope node, Value levels, Value zeroPoint) {
    Value one = node.constant(Tensor.scalar(ElementType.F32, 1));
    Value zero = node.constant(Tensor.scalar(zeroPoint.type().element(), 0));
    return quantize(node, levels, one, zero, 0);
  }

  /** Multiplies the integers, then by one factor of all three scales. */
  private static void multiply(NodeScope node) {
    Arithmetic of = new Arithmetic(node);
    Value left = difference(node, 0);
    Value right = difference(node, 3);
    Value multiplier =
        QuantizedOperators.multiplier(node, scale(node, 1, false), scale(node, 4, false), 6);
    Value zeroPoint = zeroPoint(node, 7);
    Value product = of.mul(real(node, of.mul(left, right)), multiplier);
    node.output(0, rounded(node, of.add(product, real(node, zeroPoint)), zeroPoint));
  }

  /** Returns operand {@code input} minus its zero point, as i32. */
  private static Value difference(NodeScope node, int input) {
    Arithmetic of = new Arithmetic(node);
    Value q = of.cast(node.input(input), ElementType.I32);
    if (QuantizedValues.isZero(node, input + 2)) {
      return q;
    }
    Value zeroPoint = QuantizedValues.scalarIfSingle(node, node.input(input + 2));
    return of.sub(q, of.cast(zeroPoint, ElementType.I32));
  }

  private static Value sigmoid(NodeScope node, Value x) {
    return node.add(new Elementwise.Unary(UnaryFunction.SIGMOID), x);
  }

  private static Value leakyRelu(NodeScope node, Value x) {
    return MicrosoftProducts.leakyRelu(node, x, node.number("alpha", 0.01f));
  }

  /**
   * Computes the softmax times {@code ⌊1 / sy⌋}: ONNX Runtime truncates the reciprocal of the scale
   * to an integer, so that a scale of 0.003 acts as 1/333.
   */
  private static void quantizedSoftmax(NodeScope node) {
    Arithmetic of = new Arithmetic(node);
    Value softmax = softmax(node, dequantize(node, node.input(0), 1));
    Value scale = scale(node, 3, true);
    Value levels = of.unary(UnaryFunction.FLOOR, of.div(node.scalarLike(scale, 1), scale));
    Value one = node.constant(Tensor.scalar(scale.type().element(), 1));
    node.output(0, quantize(node, of.mul(softmax, levels), one, zeroPoint(node, 4), 0));
  }

  /** Before opset 13, the softmax is over all axes from {@code axis}. */
  private static Value softmax(NodeScope node, Value x) {
    Arithmetic of = new Arithmetic(node);
    Shape shape = x.type().shape();
    if (node.integer("opset", 13) >= 13) {
      int axis = node.axis(node.integer("axis", -1), shape.rank());
      return node.add(new Reduction.Softmax(axis, false), x);
    }
    int axis = node.axis(node.integer("axis", 1), shape.rank());
    Shape flat = Shape.of(shape.range(0, axis).size(), shape.range(axis, shape.rank()).size());
    Value line = node.add(new Reduction.Softmax(1, false), of.reshape(x, flat));
    return of.reshape(line, shape);
  }

  /** Multiplies the sum of the integers with {@code sx / (sy n)}, like ONNX Runtime. */
  private static void globalAveragePool(NodeScope node) {
    Arithmetic of = new Arithmetic(node);
    boolean channelsLast = node.flag("channels_last", false);
    int rank = node.shape(0).rank();
    List<Integer> axes = new ArrayList<>();
    Dim count = Dim.ONE;
    for (int axis = channelsLast ? 1 : 2; axis < rank - (channelsLast ? 1 : 0); axis++) {
      axes.add(axis);
      count = count.times(node.shape(0).dim(axis));
    }
    Value elements = IntegerProducts.extent(node, count);
    Value sum =
        node.add(
            new Reduction.Reduce(ReductionKind.SUM, axes, true),
            of.cast(node.input(0), ElementType.I32));
    if (!QuantizedValues.isZero(node, 2)) {
      sum = of.sub(sum, of.mul(of.cast(zeroPoint(node, 2), ElementType.I32), elements));
    }
    Value divisor = of.mul(scale(node, 3, true), real(node, elements));
    Value multiplier = of.div(scale(node, 1, false), divisor);
    node.output(0, QuantizedValues.requantize(node, sum, multiplier, zeroPoint(node, 4)));
  }

  private static Value averagePool(NodeScope node, Value x) {
    boolean channelsLast = node.flag("channels_last", false);
    Value first = channelsLast ? MicrosoftBlockedChannels.channelsFirst(node, x) : x;
    Window window = WindowAttributes.of(node, List.of()).over(node, first.type().shape());
    Contraction.Pool pool =
        new Contraction.Pool(
            false,
            window,
            node.flag("ceil_mode", false),
            node.flag("count_include_pad", false),
            false);
    Value mean = node.add(pool, first);
    return channelsLast ? MicrosoftBlockedChannels.channelsLast(node, mean) : mean;
  }

  private static Value reduceMean(NodeScope node, Value x) {
    List<Integer> axes = new ArrayList<>();
    for (int axis = 0; axis < x.type().rank(); axis++) {
      axes.add(axis);
    }
    if (node.hasAttribute("axes")) {
      axes.clear();
      node.integers("axes").forEach(axis -> axes.add(node.axis(axis, x.type().rank())));
      axes.sort(null);
    }
    return node.add(new Reduction.Reduce(ReductionKind.MEAN, axes, node.flag("keepdims", true)), x);
  }

  private static void concat(NodeScope node) {
    List<Value> parts = new ArrayList<>();
    for (int input = 2; input + 2 < node.inputs(); input += 3) {
      parts.add(dequantize(node, node.input(input), input + 1));
    }
    if (parts.isEmpty()) {
      throw node.invalid("at least one tensor", "none");
    }
    int axis = node.axis(node.integer("axis"), parts.getFirst().type().rank());
    node.output(0, quantize(node, node.add(new Movement.Concat(axis), parts), 0));
  }

  private static void where(NodeScope node) {
    Value then = dequantize(node, node.input(1), 2);
    Value otherwise = dequantize(node, node.input(4), 5);
    Value chosen = node.add(new Elementwise.Select(), node.input(0), then, otherwise);
    node.output(0, quantize(node, chosen, 7));
  }

  /** Computes {@code α (a b) + c} in i32, with c in units of α, the product of both scales. */
  private static void gemm(NodeScope node) {
    Arithmetic of = new Arithmetic(node);
    Factor left = transposed(node, Factor.of(node, 0, 2), "transA");
    Factor right = transposed(node, Factor.of(node, 3, 5), "transB");
    Value sum = IntegerProducts.matMul(node, left, right);
    if (node.has(6)) {
      sum = of.add(sum, node.input(6));
    }
    Value factor = of.mul(scale(node, 1, false), scale(node, 4, false));
    double alpha = node.number("alpha", 1);
    if (alpha != 1) {
      factor = of.mul(factor, node.scalarLike(factor, alpha));
    }
    if (!node.has(7)) {
      Value real = of.cast(sum, ElementType.F32);
      node.output(0, of.mul(real, factor));
      return;
    }
    Value multiplier = of.div(factor, scale(node, 7, true));
    Value zeroPoint =
        node.has(8) ? node.input(8) : node.constant(Tensor.scalar(left.q().type().element(), 0));
    node.output(0, QuantizedValues.requantize(node, sum, multiplier, zeroPoint));
  }

  private static Factor transposed(NodeScope node, Factor factor, String attribute) {
    return node.flag(attribute, false)
        ? new Factor(IntegerProducts.transposed(node, factor.q()), factor.zeroPoint())
        : factor;
  }
}
