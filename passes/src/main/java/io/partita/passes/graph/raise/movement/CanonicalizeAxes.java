package io.partita.passes.graph.raise.movement;

import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Op;
import io.partita.passes.rewrite.Match;
import io.partita.passes.rewrite.Pattern;
import io.partita.passes.rewrite.RewriteRule;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Rewrites a chain of reshapes and transposes to at most a reshape, a transpose and a reshape. */
final class CanonicalizeAxes implements RewriteRule {
  /**
   * Longer chains need no search: their beginning is canonical when the next operation is visited.
   */
  private static final int MAX_STEPS = 8;

  @Override
  public Class<? extends Op> root() {
    return Movement.class;
  }

  @Override
  public Pattern pattern() {
    return Pattern.result(Movement.class, CanonicalizeAxes::isStep);
  }

  static boolean isStep(Op op) {
    return op instanceof Movement.Reshape || op instanceof Movement.Transpose;
  }

  @Override
  public Optional<Value> apply(Node node, Match match, GraphEditor graph) {
    List<Op> operations = new ArrayList<>();
    Node step = node;
    Value base = node.result();
    while (step != null && isStep(step.op()) && operations.size() < MAX_STEPS) {
      operations.addFirst(step.op());
      base = graph.operand(step, 0);
      step = base.definition();
    }
    Optional<List<Op>> canonical =
        AxisChain.of(base.type().shape(), operations).map(AxisChain::operations);
    if (canonical.isEmpty() || canonical.get().equals(operations)) {
      return Optional.empty();
    }
    Value result = base;
    for (Op operation : canonical.get()) {
      result = graph.add(operation, result);
    }
    return Optional.of(result);
  }
}
