package io.partita.passes.graph.raise.attention;

import io.partita.ir.function.BinaryFunction;
import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.Op;
import io.partita.ir.op.Structured;
import io.partita.passes.graph.raise.Parameters;
import io.partita.passes.rewrite.Capture;
import io.partita.passes.rewrite.Match;
import io.partita.passes.rewrite.Pattern;
import io.partita.passes.rewrite.RewriteRule;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;

/**
 * {@code attention(q*c, k) -> attention(q, k)}, with c as a factor of its scale; likewise for keys.
 */
final class AbsorbScale implements RewriteRule {
  private static final Capture<Value> FACTOR = Capture.of("factor");
  private static final Pattern SCALED =
      Pattern.either(
          Pattern.mul(Pattern.any(), Pattern.uniform(FACTOR)),
          Pattern.div(Pattern.any(), Pattern.uniform(FACTOR)));
  private static final Pattern PATTERN =
      Pattern.either(Pattern.operand(0, SCALED), Pattern.operand(1, SCALED));

  @Override
  public Class<? extends Op> root() {
    return Structured.Attention.class;
  }

  @Override
  public Pattern pattern() {
    return PATTERN;
  }

  /** A value times a number. */
  record Scaled(Value value, double factor) {}

  @Override
  public Optional<Value> apply(Node node, Match match, GraphEditor graph) {
    Structured.Attention attention = (Structured.Attention) node.op();
    List<Value> operands = new ArrayList<>(graph.operands(node));
    double scale = attention.scale();
    boolean changed = false;
    for (int i = 0; i < 2; i++) {
      Optional<Scaled> scaled = scaled(operands.get(i), graph);
      if (scaled.isPresent()) {
        operands.set(i, scaled.get().value());
        scale *= scaled.get().factor();
        changed = true;
      }
    }
    return changed
        ? Optional.of(graph.add(AttentionChange.of(attention).scale(scale).op(), operands))
        : Optional.empty();
  }

  /** Returns what a value is a multiple of; empty if no number multiplies or divides it. */
  static Optional<Scaled> scaled(Value value, GraphEditor graph) {
    Node node = graph.definition(value).orElse(null);
    if (node == null || !(node.op() instanceof Elementwise.Binary(BinaryFunction function))) {
      return Optional.empty();
    }
    Value left = graph.operand(node, 0);
    Value right = graph.operand(node, 1);
    OptionalDouble leftNumber = Parameters.uniform(left, graph);
    OptionalDouble rightNumber = Parameters.uniform(right, graph);
    if (function == BinaryFunction.MUL && leftNumber.isPresent()) {
      return scaled(right, leftNumber.getAsDouble(), value);
    }
    if (function == BinaryFunction.MUL && rightNumber.isPresent()) {
      return scaled(left, rightNumber.getAsDouble(), value);
    }
    return function == BinaryFunction.DIV && rightNumber.isPresent()
        ? scaled(left, 1 / rightNumber.getAsDouble(), value)
        : Optional.empty();
  }

  private static Optional<Scaled> scaled(Value from, double factor, Value result) {
    return from.type().equals(result.type())
        ? Optional.of(new Scaled(from, factor))
        : Optional.empty();
  }
}
