package io.partita.frontend.onnx.operator;

import io.partita.frontend.onnx.NodeScope;
import io.partita.ir.function.ReductionKind;
import io.partita.ir.function.UnaryFunction;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Reduction;
import io.partita.ir.op.Structured;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Norms of com.microsoft, with a residual sum or an embedding. */
final class MicrosoftNormalization {
  /** The mask operand of an embedding. */
  private static final int MASK = 7;

  private MicrosoftNormalization() {}

  static void register(OperatorRegistry registry) {
    String domain = OperatorRegistry.MICROSOFT;
    registry.add(domain, "SkipLayerNormalization", 1, MicrosoftNormalization::skipLayer);
    registry.add(
        domain, "SkipSimplifiedLayerNormalization", 1, MicrosoftNormalization::skipSimplified);
    registry.add(domain, "SimplifiedLayerNormalization", 1, MicrosoftNormalization::simplified);
    // ONNX Runtime's tools write it without a domain.
    registry.add("SimplifiedLayerNormalization", MicrosoftNormalization::simplified);
    registry.add(domain, "EmbedLayerNormalization", 1, MicrosoftNormalization::embed);
    registry.add(domain, "QEmbedLayerNormalization", 1, MicrosoftNormalization::quantizedEmbed);
  }

  private static void skipLayer(NodeScope node) {
    Value sum = residual(node, 4);
    List<Value> operands = new ArrayList<>(List.of(sum, node.input(2)));
    node.optionalInput(3).ifPresent(operands::add);
    Structured.Norm norm = layerNorm(node, sum, operands.size() == 3);
    node.output(0, node.add(norm, operands));
    node.output(3, sum);
    statistics(node, sum, norm);
  }

  private static Structured.Norm layerNorm(NodeScope node, Value x, boolean bias) {
    double epsilon = node.number("epsilon", 1e-12);
    return new Structured.Norm(Structured.NormKind.LAYER, x.type().rank() - 1, epsilon, true, bias);
  }

  private static void skipSimplified(NodeScope node) {
    Value sum = residual(node, 3);
    Structured.Norm norm =
        new Structured.Norm(
            Structured.NormKind.RMS,
            sum.type().rank() - 1,
            node.number("epsilon", 1e-12),
            true,
            false);
    node.output(0, node.add(norm, sum, node.input(2)));
    node.output(3, sum);
    statistics(node, sum, norm);
  }

  /** {@code input + skip (+ bias)}. */
  private static Value residual(NodeScope node, int bias) {
    Arithmetic of = new Arithmetic(node);
    Value sum = of.add(node.input(0), node.input(1));
    return node.has(bias) ? of.add(sum, node.input(bias)) : sum;
  }

  private static void simplified(NodeScope node) {
    Arithmetic of = new Arithmetic(node);
    Value x = node.input(0);
    Value scale = of.cast(node.input(1), x.type().element());
    int axis = node.axis(node.integer("axis", -1), x.type().rank());
    double epsilon = node.number("epsilon", 1e-5);
    Structured.Norm norm = new Structured.Norm(Structured.NormKind.RMS, axis, epsilon, true, false);
    node.output(0, of.cast(node.add(norm, x, scale), node.type(1).element()));
    if (node.wants(1)) {
      node.output(1, inverseDeviation(node, of.cast(x, ElementType.F32), norm));
    }
  }

  /**
   * Sets outputs 1 and 2: the mean of each line and the reciprocal of its standard deviation, in
   * f32.
   */
  private static void statistics(NodeScope node, Value x, Structured.Norm norm) {
    Value wide = node.wants(1) || node.wants(2) ? new Arithmetic(node).cast(x, ElementType.F32) : x;
    if (node.wants(1)) {
      node.output(1, mean(node, wide, norm.axis()));
    }
    if (node.wants(2)) {
      node.output(2, inverseDeviation(node, wide, norm));
    }
  }

  private static Value mean(NodeScope node, Value x, int from) {
    List<Integer> axes = new ArrayList<>();
    for (int axis = from; axis < x.type().rank(); axis++) {
      axes.add(axis);
    }
    return node.add(new Reduction.Reduce(ReductionKind.MEAN, axes, true), x);
  }

  private static Value inverseDeviation(NodeScope node, Value x, Structured.Norm norm) {
    Arithmetic of = new Arithmetic(node);
    Value centered =
        switch (norm.kind()) {
          case LAYER -> of.sub(x, mean(node, x, norm.axis()));
          case RMS -> x;
        };
    Value squares = of.mul(centered, centered);
    Value variance = of.add(mean(node, squares, norm.axis()), node.scalarLike(x, norm.epsilon()));
    Value root = node.add(new Elementwise.Unary(UnaryFunction.SQRT), variance);
    return node.add(new Elementwise.Unary(UnaryFunction.RECIPROCAL), root);
  }

  /** The tables and vectors of an embedding and its norm, in the type of the node. */
  private record Parts(
      Value words, Value places, Optional<Value> segments, Value scale, Value bias) {}

  private static void embed(NodeScope node) {
    Optional<Value> segments =
        node.has(1) && node.has(4)
            ? Optional.of(lookUp(node, node.input(4), node.input(1)))
            : Optional.empty();
    Value words = lookUp(node, node.input(2), node.input(0));
    Value places = lookUp(node, node.input(3), positions(node, 8));
    embed(node, new Parts(words, places, segments, node.input(5), node.input(6)));
  }

  /**
   * Returns dequantised tables and vectors of bytes, with scales from operand 8 and zero points 5
   * operands later.
   */
  private static void quantizedEmbed(NodeScope node) {
    Value words = dequantize(node, lookUp(node, node.input(2), node.input(0)), 8);
    Value places =
        dequantize(node, lookUp(node, node.input(3), positions(node, Integer.MAX_VALUE)), 9);
    Optional<Value> segments =
        node.has(1) && node.has(4)
            ? Optional.of(dequantize(node, lookUp(node, node.input(4), node.input(1)), 10))
            : Optional.empty();
    Value scale = dequantize(node, node.input(5), 11);
    Value bias = dequantize(node, node.input(6), 12);
    embed(node, new Parts(words, places, segments, scale, bias));
  }

  private static Value dequantize(NodeScope node, Value q, int scaleInput) {
    Value scale = QuantizedValues.scale(node, scaleInput, false);
    Value zeroPoint = QuantizedValues.zeroPoint(node, scaleInput + 5, scale, q.type().element());
    return node.add(
        new io.partita.ir.op.Quantized.Dequantize(0, 0, scale.type().element()),
        q,
        scale,
        zeroPoint);
  }

  private static Value lookUp(NodeScope node, Value table, Value ids) {
    return node.add(new Movement.Gather(0), table, ids);
  }

  private static Value positions(NodeScope node, int input) {
    return node.has(input)
        ? node.input(input)
        : new Arithmetic(node).iota(node.shape(0).dim(1), ElementType.I64);
  }

  private static void embed(NodeScope node, Parts parts) {
    Arithmetic of = new Arithmetic(node);
    Value sum = of.add(parts.words(), parts.places());
    if (parts.segments().isPresent()) {
      sum = of.add(sum, parts.segments().get());
    }
    node.output(0, node.add(layerNorm(node, sum, true), sum, parts.scale(), parts.bias()));
    if (node.wants(1)) {
      node.output(1, lengths(node));
    }
    node.output(2, sum);
  }

  /**
   * Returns the number of valid tokens of each sequence, i32 {@code [batch]}; zeros without a mask.
   */
  private static Value lengths(NodeScope node) {
    Arithmetic of = new Arithmetic(node);
    Shape batch = Shape.of(node.shape(0).dim(0));
    if (!node.has(MASK)) {
      return of.reshape(
          node.add(new Movement.Broadcast(batch), node.constant(Tensor.scalar(ElementType.I32, 0))),
          batch);
    }
    Value ones = of.cast(node.input(MASK), ElementType.I32);
    return node.add(new Reduction.Reduce(ReductionKind.SUM, List.of(1), false), ones);
  }
}
