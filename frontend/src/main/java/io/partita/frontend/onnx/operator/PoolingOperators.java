package io.partita.frontend.onnx.operator;

import io.partita.frontend.onnx.NodeScope;
import io.partita.ir.function.BinaryFunction;
import io.partita.ir.function.ReductionKind;
import io.partita.ir.function.UnaryFunction;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Contraction;
import io.partita.ir.op.Window;
import io.partita.ir.type.Dim;
import io.partita.ir.type.Shape;
import java.util.ArrayList;
import java.util.List;

/** Operators that reduce the elements in a sliding window, or those of each channel. */
final class PoolingOperators {
  private PoolingOperators() {}

  static void register(OperatorRegistry registry) {
    registry.add("MaxPool", PoolingOperators::maxPool);
    registry.add("AveragePool", PoolingOperators::averagePool);
    registry.add("LpPool", PoolingOperators::powerPool);
    registry.add("GlobalAveragePool", PoolingOperators::globalAveragePool);
    registry.add("GlobalMaxPool", PoolingOperators::globalMaxPool);
    registry.add("GlobalLpPool", PoolingOperators::globalPowerPool);
  }

  private static Window window(NodeScope node) {
    return WindowAttributes.of(node, node.integers("kernel_shape")).over(node, node.shape(0));
  }

  static void maxPool(NodeScope node) {
    Window window = window(node);
    Contraction.Pool pool =
        new Contraction.Pool(true, window, node.flag("ceil_mode", false), false, node.wants(1));
    List<Value> results = node.addAll(pool, List.of(node.input(0)));
    node.output(0, results.getFirst());
    if (node.wants(1)) {
      boolean columnMajor = node.flag("storage_order", false);
      Value indices = results.get(1);
      node.output(1, columnMajor ? columnMajor(node, indices) : indices);
    }
  }

  /** Returns row-major indices with the first spatial dimension innermost. */
  private static Value columnMajor(NodeScope node, Value indices) {
    Arithmetic of = new Arithmetic(node);
    Shape spatial = node.shape(0).range(2, node.shape(0).rank());
    long size = spatial.elements();
    Value rest = of.binary(BinaryFunction.MOD, indices, size);
    Value result = of.sub(indices, rest);
    long[] strides = spatial.strides();
    long stride = 1;
    for (int axis = 0; axis < spatial.rank(); axis++) {
      Value place = of.binary(BinaryFunction.DIV, rest, strides[axis]);
      rest = of.binary(BinaryFunction.MOD, rest, strides[axis]);
      result = of.add(result, of.mul(place, stride));
      stride *= spatial.extent(axis);
    }
    return result;
  }

  static void averagePool(NodeScope node) {
    Window window = window(node);
    boolean roundUp = node.flag("ceil_mode", false);
    boolean countPadding = node.flag("count_include_pad", false);
    if (roundUp && countPadding && node.departs()) {
      window = roundedUp(window, node.shape(0));
      roundUp = false;
    }
    node.output(
        0,
        node.add(new Contraction.Pool(false, window, roundUp, countPadding, false), node.input(0)));
  }

  private static Value power(Arithmetic of, Value x, double exponent) {
    return exponent == 1 ? x : of.binary(BinaryFunction.POW, x, exponent);
  }

  /** Computes (Σ |x|^p)^(1/p) by a depthwise convolution with ones. */
  private static void powerPool(NodeScope node) {
    Arithmetic of = new Arithmetic(node);
    double p = node.integer("p", 2);
    Shape shape = node.shape(0);
    if (!shape.range(1, shape.rank()).isStatic()) {
      throw node.unsupported("a pooling over " + shape, "bind the dimensions with --dim");
    }
    Window window = window(node);
    if (node.flag("ceil_mode", false)) {
      window = roundedUp(window, shape);
    }
    Value powers = power(of, of.unary(UnaryFunction.ABS, node.input(0)), p);
    List<Dim> kernel = new ArrayList<>(List.of(shape.dim(1), Dim.ONE));
    window.kernel().forEach(extent -> kernel.add(Dim.of(extent)));
    Value ones = of.filled(node.scalarLike(powers, 1), new Shape(kernel));
    Value sums =
        node.add(
            new Contraction.Convolution(window, shape.extent(1), false, powers.type().element()),
            powers,
            ones);
    node.output(0, power(of, sums, 1 / p));
  }

  /** Adds padding at the end, so that the last window is complete. */
  private static Window roundedUp(Window window, Shape shape) {
    List<Long> high = new ArrayList<>();
    for (int axis = 0; axis < window.spatialRank(); axis++) {
      long extent = shape.extent(axis + 2);
      long stride = window.strides().get(axis);
      long low = window.low().get(axis);
      long free = extent + low + window.high().get(axis) - window.reach(axis);
      long steps = Math.ceilDiv(free, stride);
      if (steps * stride >= extent + low) {
        steps--;
      }
      long more = Math.max(0, steps * stride - free);
      high.add(window.high().get(axis) + more);
    }
    return new Window(window.kernel(), window.strides(), window.dilations(), window.low(), high);
  }

  static void globalAveragePool(NodeScope node) {
    node.output(0, global(node, ReductionKind.MEAN));
  }

  static void globalMaxPool(NodeScope node) {
    node.output(0, global(node, ReductionKind.MAX));
  }

  private static Value global(NodeScope node, ReductionKind kind) {
    return global(node, kind, node.input(0));
  }

  private static Value global(NodeScope node, ReductionKind kind, Value x) {
    return new Arithmetic(node).reduce(kind, x, Arithmetic.axes(2, x.type().rank()), true);
  }

  private static void globalPowerPool(NodeScope node) {
    Arithmetic of = new Arithmetic(node);
    double p = node.integer("p", 2);
    Value powers = power(of, of.unary(UnaryFunction.ABS, node.input(0)), p);
    node.output(0, power(of, global(node, ReductionKind.SUM, powers), 1 / p));
  }
}
