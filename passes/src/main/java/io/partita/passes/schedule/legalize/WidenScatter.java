package io.partita.passes.schedule.legalize;

import io.partita.ir.function.Combine;
import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Op;
import io.partita.ir.type.ElementType;
import io.partita.passes.rewrite.Match;
import io.partita.passes.rewrite.Pattern;
import io.partita.passes.rewrite.RewriteRule;
import java.util.Optional;

/**
 * {@code scatter(x, i, u) -> i8(scatter(i32(x), i, i32(u)))} if updates are combined with elements;
 * the result wraps to the same value.
 */
final class WidenScatter implements RewriteRule {
  @Override
  public Class<? extends Op> root() {
    return Movement.class;
  }

  @Override
  public Pattern pattern() {
    return Pattern.result(
        Movement.class,
        op -> op instanceof Movement.ScatterElements || op instanceof Movement.ScatterNd);
  }

  @Override
  public Optional<Value> apply(Node node, Match match, GraphEditor graph) {
    Combine reduction =
        switch (node.op()) {
          case Movement.ScatterElements scatter -> scatter.reduction();
          case Movement.ScatterNd scatter -> scatter.reduction();
          case Op other -> Combine.REPLACE;
        };
    ElementType element = node.results().getFirst().type().element();
    Optional<ElementType> wide = wide(reduction, element);
    if (reduction == Combine.REPLACE || wide.isEmpty()) {
      return Optional.empty();
    }
    Terms terms = new Terms(graph);
    Value scattered =
        graph.add(
            node.op(),
            terms.cast(graph.operand(node, 0), wide.get()),
            graph.operand(node, 1),
            terms.cast(graph.operand(node, 2), wide.get()));
    return Optional.of(terms.cast(scattered, element));
  }

  private static Optional<ElementType> wide(Combine reduction, ElementType element) {
    boolean wraps = reduction == Combine.ADD || reduction == Combine.MUL;
    return switch (element) {
      case I8, U8, I16, U16 -> Optional.of(ElementType.I32);
      case U32 -> Optional.of(ElementType.I64);
      case U64 -> wraps ? Optional.of(ElementType.I64) : Optional.empty();
      case F64, F32, F16, BF16, I64, I32, I4, U4, BOOL -> Optional.empty();
    };
  }
}
