package io.partita.frontend.onnx.operator;

import io.partita.frontend.onnx.NodeScope;
import io.partita.ir.function.BinaryFunction;
import io.partita.ir.function.ReductionKind;
import io.partita.ir.function.UnaryFunction;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Contraction;
import io.partita.ir.op.Structured.Norm;
import io.partita.ir.op.Structured.NormKind;
import io.partita.ir.op.Window;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.Dim;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import java.util.ArrayList;
import java.util.List;

/** Operators that normalise elements by statistics. */
final class NormalizationOperators {
  private NormalizationOperators() {}

  static void register(OperatorRegistry registry) {
    registry.add("LayerNormalization", NormalizationOperators::layer);
    registry.add("RMSNormalization", NormalizationOperators::rootMeanSquare);
    registry.add("BatchNormalization", NormalizationOperators::batch);
    registry.add("InstanceNormalization", NormalizationOperators::instance);
    registry.add("GroupNormalization", NormalizationOperators::group);
    registry.add("LRN", NormalizationOperators::localResponse);
    registry.add("LpNormalization", NormalizationOperators::power);
    registry.add("MeanVarianceNormalization", NormalizationOperators::meanVariance);
    registry.add("Dropout", NormalizationOperators::dropout);
  }

  private static void layer(NodeScope node) {
    Arithmetic of = new Arithmetic(node);
    Value x = node.input(0);
    int axis = node.axis(node.integer("axis", -1), x.type().rank());
    double epsilon = node.number("epsilon", 1e-5f);
    List<Value> operands = new ArrayList<>(List.of(x, node.input(1)));
    node.optionalInput(2).ifPresent(operands::add);
    node.output(0, node.add(new Norm(NormKind.LAYER, axis, epsilon, true, node.has(2)), operands));
    if (node.wants(1) || node.wants(2)) {
      Value wide = of.cast(x, node.element("stash_type", ElementType.F32));
      List<Integer> axes = Arithmetic.axes(axis, x.type().rank());
      Value mean = of.mean(wide, axes);
      node.output(1, mean);
      node.output(2, inverseDeviation(of, of.sub(wide, mean), axes, epsilon));
    }
  }

  /** 1 / √(mean of squares + ε). */
  private static Value inverseDeviation(
      Arithmetic of, Value centred, List<Integer> axes, double epsilon) {
    Value variance = of.mean(of.mul(centred, centred), axes);
    return of.unary(
        UnaryFunction.RECIPROCAL, of.unary(UnaryFunction.SQRT, of.add(variance, epsilon)));
  }

  /** The types of operand and scale may differ; the result has that of the scale. */
  private static void rootMeanSquare(NodeScope node) {
    Arithmetic of = new Arithmetic(node);
    Value x = node.input(0);
    int axis = node.axis(node.integer("axis", -1), x.type().rank());
    Norm norm = new Norm(NormKind.RMS, axis, node.number("epsilon", 1e-5f), true, false);
    ElementType result = node.type(1).element();
    if (x.type().element() == result) {
      node.output(0, node.add(norm, x, node.input(1)));
    } else {
      Value y =
          node.add(norm, of.cast(x, ElementType.F32), of.cast(node.input(1), ElementType.F32));
      node.output(0, of.cast(y, result));
    }
  }

  /** (x - mean) scale / √(variance + ε) + bias, each a vector along the channels. */
  private static void batch(NodeScope node) {
    Arithmetic of = new Arithmetic(node);
    Value x = node.input(0);
    int rank = x.type().rank();
    boolean training = node.flag("training_mode", false);
    if (!node.flag("spatial", true)) {
      throw node.unsupported("statistics for each element (spatial=0)", "export with spatial=1");
    }
    Value mean = node.input(3);
    Value variance = node.input(4);
    if (training) {
      double momentum = node.number("momentum", 0.9f);
      List<Integer> others = new ArrayList<>(Arithmetic.axes(0, rank));
      others.remove(Integer.valueOf(1));
      Value now = of.reduce(ReductionKind.MEAN, x, others, false);
      Value centred = of.sub(x, channels(of, now, rank));
      Value spread = of.reduce(ReductionKind.MEAN, of.mul(centred, centred), others, false);
      node.output(1, running(of, mean, now, momentum));
      node.output(2, running(of, variance, spread, momentum));
      mean = now;
      variance = spread;
    }
    // One factor and one offset per channel, which fold if the statistics are constants.
    Value wide = of.add(variance, node.number("epsilon", 1e-5f));
    Value scale = of.cast(node.input(1), wide.type().element());
    Value bias = of.cast(node.input(2), wide.type().element());
    Value factor = of.div(scale, of.unary(UnaryFunction.SQRT, wide));
    Value offset = of.sub(bias, of.mul(of.cast(mean, wide.type().element()), factor));
    ElementType element = x.type().element();
    Value scaled = of.mul(x, channels(of, of.cast(factor, element), rank));
    node.output(0, of.add(scaled, channels(of, of.cast(offset, element), rank)));
  }

  private static Value running(Arithmetic of, Value old, Value now, double momentum) {
    Value same = of.cast(now, old.type().element());
    return of.add(of.mul(old, momentum), of.mul(same, 1 - momentum));
  }

  /** Reshapes a vector so that it broadcasts along axis 1. */
  private static Value channels(Arithmetic of, Value vector, int rank) {
    return rank < 2 ? vector : of.alongAxis(vector, 1, rank);
  }

  private static void instance(NodeScope node) {
    Arithmetic of = new Arithmetic(node);
    Value x = node.input(0);
    int rank = x.type().rank();
    Norm norm = new Norm(NormKind.LAYER, 2, node.number("epsilon", 1e-5f), false, false);
    Value scaled = of.mul(node.add(norm, x), channels(of, node.input(1), rank));
    node.output(0, of.add(scaled, channels(of, node.input(2), rank)));
  }

  /** Scale and bias are per group in version 18, and per channel since version 21. */
  private static void group(NodeScope node) {
    Arithmetic of = new Arithmetic(node);
    Value x = node.input(0);
    Shape shape = x.type().shape();
    Dim groups = Dim.of(node.integer("num_groups"));
    Dim size = shape.rank() < 2 ? null : shape.dim(1).dividedExactlyBy(groups);
    if (size == null) {
      throw node.invalid("channels in " + groups + " equal groups", shape.toString());
    }
    Shape grouped = Shape.of(shape.dim(0), groups, size.times(shape.range(2, shape.rank()).size()));
    Norm norm = new Norm(NormKind.LAYER, 2, node.number("epsilon", 1e-5f), false, false);
    Value y = node.add(norm, of.reshape(x, grouped));
    boolean byGroup = node.opset() < 21;
    if (byGroup) {
      y = of.mul(y, of.alongAxis(node.input(1), 1, 3));
      y = of.add(y, of.alongAxis(node.input(2), 1, 3));
      node.output(0, of.reshape(y, shape));
    } else {
      Value scaled = of.mul(of.reshape(y, shape), channels(of, node.input(1), shape.rank()));
      node.output(0, of.add(scaled, channels(of, node.input(2), shape.rank())));
    }
  }

  /** x / (bias + alpha/size Σ x²)^beta, the sum over size neighbouring channels. */
  private static void localResponse(NodeScope node) {
    Arithmetic of = new Arithmetic(node);
    Value x = node.input(0);
    Shape shape = x.type().shape();
    long size = node.integer("size");
    if (size < 1 || shape.rank() < 2) {
      throw node.invalid("a size of 1 or more and channels", size + " and " + shape);
    }
    Shape rows = Shape.of(shape.dim(0), Dim.ONE, shape.dim(1), shape.range(2, shape.rank()).size());
    List<Long> ones = List.of(1L, 1L);
    long before = (size - 1) / 2;
    Window window =
        new Window(
            List.of(size, 1L), ones, ones, List.of(before, 0L), List.of(size - 1 - before, 0L));
    Value weight = of.filled(node.scalarLike(x, 1), Shape.of(1, 1, size, 1));
    Value sums =
        node.add(
            new Contraction.Convolution(window, 1, false, x.type().element()),
            of.reshape(of.mul(x, x), rows),
            weight);
    double alpha = node.number("alpha", 1e-4f);
    Value base = of.add(of.mul(of.reshape(sums, shape), alpha / size), node.number("bias", 1));
    Value divisor = of.binary(BinaryFunction.POW, base, node.number("beta", 0.75));
    node.output(0, of.div(x, divisor));
  }

  /** x / (Σ |x|^p)^(1/p), and 0 if that norm is 0. */
  private static void power(NodeScope node) {
    Arithmetic of = new Arithmetic(node);
    Value x = node.input(0);
    List<Integer> axes = List.of(node.axis(node.integer("axis", -1), x.type().rank()));
    long p = node.integer("p", 2);
    Value norm;
    if (p == 1) {
      norm = of.reduce(ReductionKind.SUM, of.unary(UnaryFunction.ABS, x), axes, true);
    } else if (p == 2) {
      norm = of.unary(UnaryFunction.SQRT, of.reduce(ReductionKind.SUM, of.mul(x, x), axes, true));
    } else {
      throw node.invalid("p of 1 or 2", Long.toString(p));
    }
    Value zero = of.binary(BinaryFunction.EQUAL, norm, 0);
    node.output(0, of.select(zero, node.scalarLike(x, 0), of.div(x, norm)));
  }

  /** (x - mean) / (√variance + 1e-9). */
  private static void meanVariance(NodeScope node) {
    Arithmetic of = new Arithmetic(node);
    Value x = node.input(0);
    List<Integer> axes =
        node.integers("axes", List.of(0L, 2L, 3L)).stream()
            .map(axis -> node.axis(axis, x.type().rank()))
            .distinct()
            .sorted()
            .toList();
    Value centred = of.sub(x, of.mean(x, axes));
    Value variance = of.mean(of.mul(centred, centred), axes);
    node.output(0, of.div(centred, of.add(of.unary(UnaryFunction.SQRT, variance), 1e-9)));
  }

  /**
   * Imports Dropout as the identity, except in training. Before version 10, the mask has the
   * operand's type.
   */
  private static void dropout(NodeScope node) {
    Arithmetic of = new Arithmetic(node);
    boolean training =
        node.opset() < 7 ? !node.flag("is_test", false) : node.has(2) && node.data(2).getBoolean(0);
    double ratio = node.has(1) && training ? node.data(1).getDouble(0) : node.number("ratio", 0.5);
    if (training && ratio != 0) {
      throw node.unsupported(
          "random dropout in training", "export the model for inference (training_mode=false)");
    }
    node.output(0, node.input(0));
    if (node.wants(1)) {
      ElementType element = node.opset() < 10 ? node.type(0).element() : ElementType.BOOL;
      Value one = node.constant(Tensor.scalar(element, 1));
      node.output(1, of.filled(one, node.shape(0)));
    }
  }
}
