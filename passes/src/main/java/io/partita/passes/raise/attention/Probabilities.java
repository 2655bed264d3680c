package io.partita.passes.raise.attention;

import static io.partita.passes.rewrite.Pattern.any;
import static io.partita.passes.rewrite.Pattern.number;
import static io.partita.passes.rewrite.Pattern.op;
import static io.partita.passes.rewrite.Pattern.unary;

import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Op;
import io.partita.ir.op.UnaryFunction;
import io.partita.ir.type.Shape;
import io.partita.passes.rewrite.Capture;
import io.partita.passes.rewrite.Pattern;

/** What stands between a softmax and the product with the values. */
final class Probabilities {
  private static final int MOST_STEPS = 6;
  private static final Capture<Value> GUARDED = Capture.of("guarded");

  /** {@code isnan(p) ? 0 : p}: a row that sees no key gives zeros, as attention is defined. */
  private static final Pattern GUARD =
      op(
          Elementwise.Select.class,
          unary(UnaryFunction.IS_NAN, any(GUARDED)),
          number(0),
          any(GUARDED));

  private Probabilities() {}

  static Pattern through(Pattern softmax) {
    return (value, graph, match) -> {
      Value at = value;
      for (int step = 0; step < MOST_STEPS; step++) {
        var guard = GUARD.match(at, graph);
        if (guard.isPresent()) {
          at = guard.get().get(GUARDED);
        } else if (graph.definition(at).orElse(null) instanceof Node node && isSkipped(node)) {
          at = graph.operand(node, 0);
        } else {
          break;
        }
      }
      return softmax.match(at, graph, match);
    };
  }

  private static boolean isSkipped(Node node) {
    return switch (node.op()) {
      case Elementwise.Cast cast ->
          cast.to().isFloat() && node.operand(0).type().element().isFloat();
      case Movement.Reshape reshape -> keepsRows(node);
      case Op other -> false;
    };
  }

  private static boolean keepsRows(Node reshape) {
    Shape from = reshape.operand(0).type().shape();
    Shape to = reshape.result().type().shape();
    return from.rank() >= 3
        && to.rank() >= 3
        && from.range(from.rank() - 2, from.rank()).equals(to.range(to.rank() - 2, to.rank()));
  }
}
