package io.partita.passes.schedule.legalize;

import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Op;
import io.partita.ir.type.ElementType;
import io.partita.passes.rewrite.Match;
import io.partita.passes.rewrite.Pattern;
import io.partita.passes.rewrite.RewriteRule;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** {@code move(f16(x)) -> f16(move(x))}, so that casts meet and cancel. */
final class MoveF32 implements RewriteRule {
  @Override
  public Class<? extends Op> root() {
    return Movement.class;
  }

  @Override
  public Pattern pattern() {
    return Pattern.any().where(ComputeInF32::isHalf);
  }

  @Override
  public Optional<Value> apply(Node node, Match match, GraphEditor graph) {
    boolean moves =
        switch ((Movement) node.op()) {
          case Movement.Reshape reshape -> true;
          case Movement.Transpose transpose -> true;
          case Movement.Broadcast broadcast -> true;
          case Movement.Slice slice -> true;
          case Movement.Concat concat -> true;
          case Movement.Pad pad -> false;
          case Movement.Gather gather -> false;
          case Movement.GatherElements gather -> false;
          case Movement.GatherNd gather -> false;
          case Movement.ScatterElements scatter -> false;
          case Movement.ScatterNd scatter -> false;
        };
    List<Value> sources = new ArrayList<>();
    for (Value operand : moves ? graph.operands(node) : List.<Value>of()) {
      source(operand, graph).ifPresent(sources::add);
    }
    ElementType half = node.result().type().element();
    return moves && sources.size() == node.operands().size()
        ? Optional.of(graph.add(new Elementwise.Cast(half), graph.add(node.op(), sources)))
        : Optional.empty();
  }

  private static Optional<Value> source(Value value, GraphEditor graph) {
    return graph
        .definition(value)
        .filter(node -> node.op() instanceof Elementwise.Cast && ComputeInF32.isHalf(value))
        .map(node -> graph.operand(node, 0))
        .filter(source -> source.type().element() == ElementType.F32);
  }
}
