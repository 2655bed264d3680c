package io.partita.tests.matrix;

import io.partita.ir.eval.OpEvaluator;
import io.partita.ir.factor.Factor;
import io.partita.ir.factor.FactorRule;
import io.partita.ir.factor.FactorRules;
import io.partita.ir.function.BinaryFunction;
import io.partita.ir.function.ReductionKind;
import io.partita.ir.graph.Graph;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Communication;
import io.partita.ir.op.Contraction;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.IntegerNetwork;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Op;
import io.partita.ir.op.Quantized;
import io.partita.ir.op.Reduction;
import io.partita.ir.op.Source;
import io.partita.ir.op.Structured;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.DoubleUnaryOperator;

/**
 * Bounds of the differences between two orders of a node's additions, for each node separately.
 *
 * <p>Let {@code y} be a sum of n products, and Q the sum of their squares. Each of n - 1 additions
 * rounds a partial sum by at most a fraction u of it. Over all orders, the mean square of a sum of
 * k of the n products is {@code k/n (1 - (k-1)/(n-1)) Q + k(k-1)/(n(n-1)) y^2 <= Q + y^2}. The
 * roundings of the products add {@code u^2 Q}. If roundings are independent and of mean 0 (the
 * model of Higham and Mary, "A new approach to probabilistic rounding error analysis", 2019), the
 * mean square of the error in one order is at most {@code u^2 ((n-1) (Q + y^2) + Q)}, and that of
 * the difference of two orders is twice that.
 *
 * <p>Linear operations on partial sums round each term separately, so they use Q of an operand
 * instead of its square, up to a user that needs the whole value.
 */
final class RoundingTerms {
  private final Set<Value> whole = Collections.newSetFromMap(new IdentityHashMap<>());

  /** Q of each floating-point value, as f64. */
  private final Map<Value, Tensor> squares = new IdentityHashMap<>();

  private final Map<Value, double[]> differences = new IdentityHashMap<>();

  private RoundingTerms() {}

  /**
   * @param values the tensors of all values of the graph
   */
  static RoundingTerms of(Graph graph, Map<Value, Tensor> values) {
    RoundingTerms terms = new RoundingTerms();
    Map<Node, FactorRule> rules = new IdentityHashMap<>();
    for (Node node : graph.nodes()) {
      FactorRule rule =
          FactorRules.of(node.op(), node.operands().stream().map(Value::type).toList());
      rules.put(node, rule);
      for (int i = 0; i < node.operands().size(); i++) {
        if (!takesPartial(rule, i)) {
          terms.whole.add(node.operand(i));
        }
      }
    }
    graph.outputs().forEach(output -> terms.whole.add(output.value()));
    graph.nodes().forEach(node -> terms.add(node, rules.get(node), values));
    return terms;
  }

  private static boolean takesPartial(FactorRule rule, int operand) {
    return rule.linearity().kinds().contains(ReductionKind.SUM)
        && rule.linearity().termOf(operand) >= 0;
  }

  /** Returns a bound of the root mean square difference of each element; empty for exact values. */
  Optional<double[]> of(Value value) {
    return Optional.ofNullable(differences.get(value));
  }

  private void add(Node node, FactorRule rule, Map<Value, Tensor> values) {
    boolean linear = !rule.linearity().terms().isEmpty() && node.results().size() == 1;
    for (Value result : node.results()) {
      if (result.type().element().isFloat() && node.constant().isEmpty()) {
        double[] y = values.get(result).doubles();
        Tensor q = linear ? squares(node, rule, values) : squared(values.get(result));
        squares.put(result, q);
        if (rounds(node.op())) {
          long additions = linear ? summands(rule) - 1 : 0;
          double scale = Math.sqrt(2) * unitRoundoff(result.type().element());
          double[] found = new double[y.length];
          for (int i = 0; i < y.length; i++) {
            double square = q.getDouble(i);
            found[i] = scale * Math.sqrt(additions * (square + y[i] * y[i]) + square);
          }
          differences.put(result, found);
        }
      }
    }
  }

  /** Computes a linear operation on squares; differences become sums. */
  private Tensor squares(Node node, FactorRule rule, Map<Value, Tensor> values) {
    if (node.op() instanceof Structured.Ffn ffn) {
      return squares(ffn, node.operands().stream().map(values::get).toList());
    }
    List<Tensor> operands = new ArrayList<>();
    for (int i = 0; i < node.operands().size(); i++) {
      Value operand = node.operand(i);
      Tensor value = values.get(operand);
      boolean isPart = !whole.contains(operand) && squares.containsKey(operand);
      operands.add(
          !takesPartial(rule, i) ? wide(value) : isPart ? squares.get(operand) : squared(value));
    }
    Op op =
        switch (node.op()) {
          case Elementwise.Cast cast -> new Elementwise.Cast(ElementType.F64);
          case Elementwise.Binary binary when binary.function() == BinaryFunction.SUB ->
              new Elementwise.Binary(BinaryFunction.ADD);
          case Contraction.MatMul product -> new Contraction.MatMul(ElementType.F64);
          case Contraction.Convolution(var window, var groups, var bias, var element) ->
              new Contraction.Convolution(window, groups, bias, ElementType.F64);
          case Op other -> other;
        };
    return magnitude(OpEvaluator.evaluate(op, operands).getFirst());
  }

  /**
   * Computes Q of the last product of a network; a network with the identity as last weight gives
   * its inner features.
   */
  private static Tensor squares(Structured.Ffn ffn, List<Tensor> operands) {
    int last = operands.size() - (ffn.downBias() ? 2 : 1);
    Tensor down = operands.get(last);
    List<Tensor> inner = new ArrayList<>(operands.subList(0, last));
    inner.add(identity(down.shape().extent(0)));
    Structured.Ffn open =
        new Structured.Ffn(ffn.activation(), ffn.gated(), ffn.gateBias(), ffn.upBias(), false);
    List<Tensor> linear = new ArrayList<>();
    linear.add(
        squared(
            OpEvaluator.evaluate(open, inner.stream().map(RoundingTerms::wide).toList())
                .getFirst()));
    operands.subList(last, operands.size()).forEach(operand -> linear.add(squared(operand)));
    return OpEvaluator.evaluate(new Structured.Linear(false, ffn.downBias()), linear).getFirst();
  }

  private static Tensor identity(long size) {
    int rows = Math.toIntExact(size);
    double[] values = new double[rows * rows];
    for (int i = 0; i < rows; i++) {
      values[i * rows + i] = 1;
    }
    return Tensor.ofDoubles(new TensorType(ElementType.F64, Shape.of(size, size)), values);
  }

  private static long summands(FactorRule rule) {
    long terms = Math.max(1, rule.linearity().terms().size());
    return rule.factors().stream()
        .filter(factor -> factor.use() == Factor.Use.SUM)
        .mapToLong(Factor::extent)
        .reduce(terms, (a, b) -> a * Math.max(1, b));
  }

  /** Returns half the distance between 1 and the next larger number. */
  static double unitRoundoff(ElementType element) {
    return switch (element) {
      case F64 -> 0x1p-53;
      case F32 -> 0x1p-24;
      case F16 -> 0x1p-11;
      case BF16 -> 0x1p-8;
      case I64, I32, I16, I8, I4, U64, U32, U16, U8, U4, BOOL -> 0;
    };
  }

  /** Whether a result may differ even if its operands are equal. */
  private static boolean rounds(Op op) {
    return switch (op) {
      case Communication communication -> false;
      case Contraction contraction -> true;
      case Elementwise.Binary binary -> true;
      case Elementwise.Cast cast -> true;
      case Elementwise.Select select -> false;
      case Elementwise.Unary unary -> true;
      case IntegerNetwork network -> true;
      case Movement movement -> false;
      case Quantized quantized -> true;
      case Reduction reduction -> true;
      case Source source -> false;
      case Structured.CacheUpdate update -> false;
      case Structured.Embedding embedding -> false;
      case Structured structured -> true;
    };
  }

  private static Tensor wide(Tensor tensor) {
    return tensor.element().isFloat()
        ? Tensor.ofDoubles(tensor.type().with(ElementType.F64), tensor.doubles())
        : tensor;
  }

  private static Tensor squared(Tensor tensor) {
    return each(tensor, value -> value * value);
  }

  private static Tensor magnitude(Tensor tensor) {
    return each(tensor, Math::abs);
  }

  private static Tensor each(Tensor tensor, DoubleUnaryOperator function) {
    return tensor.element().isFloat()
        ? Tensor.ofDoubles(
            tensor.type().with(ElementType.F64),
            Arrays.stream(tensor.doubles()).map(function).toArray())
        : tensor;
  }
}
