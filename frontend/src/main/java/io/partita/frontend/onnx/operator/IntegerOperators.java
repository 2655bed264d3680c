package io.partita.frontend.onnx.operator;

import io.partita.frontend.onnx.NodeScope;
import io.partita.frontend.onnx.operator.IntegerProducts.Factor;
import io.partita.ir.function.BinaryFunction;
import io.partita.ir.function.ReductionKind;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Reduction;
import io.partita.ir.type.Dim;
import io.partita.ir.type.ElementType;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.TreeSet;
import java.util.stream.IntStream;

/**
 * Standard operators of networks with integers in float tensors: sums in i32 of weights that may be
 * narrower, and means that round half up.
 */
public final class IntegerOperators {
  /** The internal domain of operators of such networks, which no file has. */
  public static final String DOMAIN = "io.partita.integer";

  private IntegerOperators() {}

  /** Whether a standard operator has another meaning, or narrower operands, on integers. */
  public static boolean has(String operator) {
    return switch (operator) {
      case "MatMul", "Gemm", "Conv", "ReduceMean" -> true;
      case String other -> false;
    };
  }

  static void register(OperatorRegistry registry) {
    registry.add(DOMAIN, "MatMul", 1, IntegerOperators::matMul);
    registry.add(DOMAIN, "Gemm", 1, IntegerOperators::gemm);
    registry.add(DOMAIN, "Conv", 1, IntegerOperators::conv);
    registry.add(DOMAIN, "ReduceMean", 1, IntegerOperators::mean);
  }

  private static Factor factor(Value value) {
    return new Factor(value, Optional.empty());
  }

  private static void matMul(NodeScope node) {
    node.output(0, IntegerProducts.matMul(node, factor(node.input(0)), factor(node.input(1))));
  }

  private static void gemm(NodeScope node) {
    Arithmetic of = new Arithmetic(node);
    Value left = node.input(0);
    Value right = node.input(1);
    if (node.flag("transA", false)) {
      left = IntegerProducts.transposed(node, left);
    }
    if (node.flag("transB", false)) {
      right = IntegerProducts.transposed(node, right);
    }
    Value product =
        scaled(node, IntegerProducts.matMul(node, factor(left), factor(right)), "alpha");
    if (node.has(2)) {
      Value addend = scaled(node, of.cast(node.input(2), ElementType.I32), "beta");
      product = of.add(product, addend);
    }
    node.output(0, product);
  }

  private static Value scaled(NodeScope node, Value x, String attribute) {
    double factor = node.number(attribute, 1);
    if (factor != Math.rint(factor)) {
      throw node.unsupported(
          attribute + " of " + factor + " in an integer network", "use an integral factor");
    }
    return factor == 1 ? x : new Arithmetic(node).mul(x, node.scalarLike(x, factor));
  }

  private static void conv(NodeScope node) {
    Optional<Value> bias =
        node.optionalInput(2).map(value -> new Arithmetic(node).cast(value, ElementType.I32));
    node.output(
        0, IntegerProducts.convolution(node, factor(node.input(0)), factor(node.input(1)), bias));
  }

  /** {@code ⌊mean + 1/2⌋}; axes are an attribute of one or several integers, or operand 1. */
  static void mean(NodeScope node) {
    Arithmetic of = new Arithmetic(node);
    Value x = node.input(0);
    if (!x.type().element().isInteger()) {
      throw node.unsupported(
          node.operator() + " in a network with non-integral values",
          "use only integral weights, and operators that map integers to integers");
    }
    List<Integer> axes = axes(node, x.type().rank());
    if (axes.isEmpty() && node.flag("noop_with_empty_axes", false)) {
      node.output(0, x);
      return;
    }
    if (axes.isEmpty()) {
      axes = IntStream.range(0, x.type().rank()).boxed().toList();
    }
    long count = 1;
    for (int axis : axes) {
      count = Math.multiplyExact(count, x.type().dim(axis).value());
    }
    Value sum =
        node.add(new Reduction.Reduce(ReductionKind.SUM, axes, node.flag("keepdims", true)), x);
    Value twice = of.mul(sum, node.scalarLike(x, 2));
    Value shifted = of.add(twice, node.scalarLike(x, count));
    node.output(0, floorDivide(node, shifted, node.scalarLike(x, 2.0 * count)));
  }

  private static List<Integer> axes(NodeScope node, int rank) {
    List<Long> given = List.of();
    if (node.has(1)) {
      given = node.longs(1);
    } else if (node.hasAttribute("axes")) {
      given = node.integers("axes");
    }
    TreeSet<Integer> axes = new TreeSet<>();
    given.forEach(axis -> axes.add(node.axis(axis, rank)));
    return new ArrayList<>(axes);
  }

  /** {@code ⌊x / y⌋}: x without its remainder is divided exactly. */
  static Value floorDivide(NodeScope node, Value x, Value y) {
    Arithmetic of = new Arithmetic(node);
    Optional<List<Dim>> known = node.knownDims(y);
    if (known.isPresent() && known.get().size() == 1 && known.get().getFirst().isStatic()) {
      long divisor = known.get().getFirst().value();
      if (divisor > 0 && Long.bitCount(divisor) == 1) {
        Value digits = node.scalarLike(x, Long.numberOfTrailingZeros(divisor));
        return of.binary(BinaryFunction.SHIFT_RIGHT, x, digits);
      }
    }
    Value remainder = of.binary(BinaryFunction.MOD, x, y);
    return of.div(of.sub(x, remainder), y);
  }
}
