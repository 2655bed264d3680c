package io.partita.frontend.onnx.operator;

import static io.partita.frontend.onnx.operator.QuantizedValues.channelwise;
import static io.partita.frontend.onnx.operator.QuantizedValues.requantize;
import static io.partita.frontend.onnx.operator.QuantizedValues.scalarIfSingle;
import static io.partita.frontend.onnx.operator.QuantizedValues.scale;
import static io.partita.frontend.onnx.operator.QuantizedValues.zeroPoint;

import io.partita.frontend.onnx.NodeScope;
import io.partita.frontend.onnx.operator.IntegerProducts.Factor;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Quantized;
import io.partita.ir.type.ElementType;
import java.util.Optional;

/** ONNX operators on quantised tensors. */
final class QuantizedOperators {
  private QuantizedOperators() {}

  static void register(OperatorRegistry registry) {
    registry.add("QuantizeLinear", QuantizedOperators::quantizeLinear);
    registry.add("DequantizeLinear", QuantizedOperators::dequantizeLinear);
    registry.add("DynamicQuantizeLinear", QuantizedOperators::dynamicQuantizeLinear);
    registry.add("MatMulInteger", QuantizedOperators::matMulInteger);
    registry.add("ConvInteger", QuantizedOperators::convInteger);
    registry.add("QLinearMatMul", QuantizedOperators::qLinearMatMul);
    registry.add("QLinearConv", QuantizedOperators::qLinearConv);
    registry.add(
        OperatorRegistry.MICROSOFT, "QuantizeLinear", 1, QuantizedOperators::quantizeLinear);
    registry.add(
        OperatorRegistry.MICROSOFT, "DequantizeLinear", 1, QuantizedOperators::dequantizeLinear);
    registry.add(OperatorRegistry.MICROSOFT, "QLinearConv", 1, QuantizedOperators::qLinearConv);
  }

  private static void quantizeLinear(NodeScope node) {
    Arithmetic of = new Arithmetic(node);
    Value scale = scale(node, 1, true);
    ElementType to = node.element("output_dtype", ElementType.U8);
    Value zeroPoint = zeroPoint(node, 2, scale, to);
    to = zeroPoint.type().element();
    if (!to.isInteger()) {
      throw node.unsupported("quantising to " + to, "quantise to an integer type");
    }
    ElementType precision = node.element("precision", scale.type().element());
    Value x = of.cast(node.input(0), precision);
    Value step = of.cast(scale, precision);
    node.output(
        0, node.add(new Quantized.Quantize(axis(node), block(node), to), x, step, zeroPoint));
  }

  private static void dequantizeLinear(NodeScope node) {
    Value scale = scale(node, 1, false);
    Value q = node.input(0);
    if (!q.type().element().isInteger()) {
      throw node.unsupported(
          "dequantising from " + q.type().element(), "quantise to an integer type");
    }
    Value zeroPoint = zeroPoint(node, 2, scale, q.type().element());
    ElementType to = node.element("output_dtype", scale.type().element());
    node.output(
        0, node.add(new Quantized.Dequantize(axis(node), block(node), to), q, scale, zeroPoint));
  }

  /** Returns the axis, which is unused if the scale is for the whole tensor. */
  private static int axis(NodeScope node) {
    boolean whole = node.shape(1).rank() == 0 || node.shape(1).size().is(1);
    return whole ? 0 : node.axis(node.integer("axis", 1), node.shape(0).rank());
  }

  private static long block(NodeScope node) {
    return node.shape(1).rank() < 2 ? 0 : node.integer("block_size", 0);
  }

  private static void dynamicQuantizeLinear(NodeScope node) {
    QuantizedValues.Dynamic dynamic = QuantizedValues.Dynamic.of(node, node.input(0));
    node.output(0, dynamic.q());
    node.output(1, dynamic.scale());
    node.output(2, dynamic.zeroPoint());
  }

  private static void matMulInteger(NodeScope node) {
    node.output(0, IntegerProducts.matMul(node, Factor.of(node, 0, 2), Factor.of(node, 1, 3)));
  }

  private static void convInteger(NodeScope node) {
    node.output(
        0,
        IntegerProducts.convolution(
            node, Factor.of(node, 0, 2), Factor.of(node, 1, 3), Optional.empty()));
  }

  private static void qLinearMatMul(NodeScope node) {
    Value sum = IntegerProducts.matMul(node, Factor.of(node, 0, 2), Factor.of(node, 3, 5));
    Value left = IntegerProducts.rowwise(node, scale(node, 1, false));
    Value multiplier = multiplier(node, left, scale(node, 4, false), 6);
    node.output(0, requantize(node, sum, multiplier, node.input(7)));
  }

  /** ONNX Runtime's layout optimisation writes data with channels last, but weights unchanged. */
  private static void qLinearConv(NodeScope node) {
    boolean channelsLast = node.flag("channels_last", false);
    Factor given = Factor.of(node, 0, 2);
    Factor x =
        channelsLast
            ? new Factor(MicrosoftBlockedChannels.channelsFirst(node, given.q()), given.zeroPoint())
            : given;
    Value sum = IntegerProducts.convolution(node, x, Factor.of(node, 3, 5), node.optionalInput(8));
    Value weight = channelwise(node, scale(node, 4, false), sum.type().rank());
    Value multiplier = multiplier(node, scale(node, 1, false), weight, 6);
    Value y = requantize(node, sum, multiplier, node.input(7));
    node.output(0, channelsLast ? MicrosoftBlockedChannels.channelsLast(node, y) : y);
  }

  /** Returns {@code left right / result} in f32, in the order of ONNX Runtime. */
  static Value multiplier(NodeScope node, Value left, Value right, int result) {
    Arithmetic of = new Arithmetic(node);
    Value product = of.mul(of.cast(left, ElementType.F32), of.cast(right, ElementType.F32));
    Value divisor = of.cast(scale(node, result, true), ElementType.F32);
    return of.div(product, scalarIfSingle(node, divisor));
  }
}
