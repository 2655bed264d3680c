package io.partita.passes.schedule.legalize;

import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Contraction;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Op;
import io.partita.ir.op.Window;
import io.partita.ir.type.ElementType;
import io.partita.passes.rewrite.Match;
import io.partita.passes.rewrite.Pattern;
import io.partita.passes.rewrite.RewriteRule;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** {@code move(i32(x)) -> i32(move(x))}, also for max pooling. */
final class MoveNarrow implements RewriteRule {
  @Override
  public Class<? extends Op> root() {
    return Op.class;
  }

  @Override
  public Pattern pattern() {
    return Pattern.operands(Narrow.WIDENED);
  }

  @Override
  public Optional<Value> apply(Node node, Match match, GraphEditor graph) {
    boolean moves =
        switch (node.op()) {
          case Movement.Reshape reshape -> true;
          case Movement.Transpose transpose -> true;
          case Movement.Broadcast broadcast -> true;
          case Movement.Slice slice -> true;
          case Movement.Concat concat -> true;
          case Contraction.Pool pool -> pool.largest() && !pool.indices() && touches(pool.window());
          case Op other -> false;
        };
    if (!moves) {
      return Optional.empty();
    }
    List<Value> sources = new ArrayList<>();
    for (Value operand : graph.operands(node)) {
      Narrow.source(operand, graph).ifPresent(sources::add);
    }
    List<ElementType> types =
        sources.stream().map(source -> source.type().element()).distinct().toList();
    return sources.size() == node.operands().size() && types.size() == 1
        ? Optional.of(Narrow.widened(graph.add(node.op(), sources), graph))
        : Optional.empty();
  }

  /** Whether each window position contains an element, and not only padding. */
  private static boolean touches(Window window) {
    for (int axis = 0; axis < window.spatialRank(); axis++) {
      if (Math.max(window.low().get(axis), window.high().get(axis)) >= window.reach(axis)) {
        return false;
      }
    }
    return true;
  }
}
