package io.partita.passes.graph.raise.linear;

import io.partita.ir.function.UnaryFunction;
import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Structured;
import io.partita.passes.graph.raise.integer.IntegerRules;
import io.partita.passes.rewrite.Pattern;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** The linears of a feed-forward network. */
public final class FfnOperands {
  /**
   * The functions between the linears of a feed-forward network. A tanh isn't one: it ends poolers,
   * and a classifier follows.
   */
  private static final Set<UnaryFunction> ACTIVATIONS =
      Set.of(
          UnaryFunction.GELU,
          UnaryFunction.GELU_TANH,
          UnaryFunction.QUICK_GELU,
          UnaryFunction.SILU,
          UnaryFunction.HARD_SWISH,
          UnaryFunction.RELU);

  private FfnOperands() {}

  /** Whether the function may stand between the linears. */
  public static boolean isActivation(UnaryFunction function) {
    return ACTIVATIONS.contains(function);
  }

  /**
   * Whether the function may be that of a gate, whose result is multiplied with another linear's.
   */
  public static boolean isGate(UnaryFunction function) {
    return isActivation(function) || function == UnaryFunction.SIGMOID;
  }

  /** A linear of floats; one of quantized integers stays a node, which becomes integer later. */
  static Pattern linear(Pattern result) {
    return result
        .where(value -> !value.isInput() && value.definition().op() instanceof Structured.Linear)
        .and(
            (value, graph, match) ->
                IntegerRules.matches(value.definition(), graph)
                    ? Optional.empty()
                    : Optional.of(match));
  }

  static boolean hasBias(Node linear) {
    return ((Structured.Linear) linear.op()).bias();
  }

  /** Returns the weight as {@code [in, out]} and the bias, if any. */
  static List<Value> weights(Node linear, GraphEditor graph) {
    Value weight = graph.operand(linear, 1);
    Value straight =
        ((Structured.Linear) linear.op()).transposed()
            ? graph.add(new Movement.Transpose(List.of(1, 0)), weight)
            : weight;
    return hasBias(linear) ? List.of(straight, graph.operand(linear, 2)) : List.of(straight);
  }
}
