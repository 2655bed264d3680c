package io.partita.passes.graph.raise.attention;

import static io.partita.passes.rewrite.Pattern.any;
import static io.partita.passes.rewrite.Pattern.number;
import static io.partita.passes.rewrite.Pattern.op;
import static io.partita.passes.rewrite.Pattern.unary;

import io.partita.ir.function.UnaryFunction;
import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Op;
import io.partita.ir.type.Shape;
import io.partita.passes.graph.raise.Parameters;
import io.partita.passes.rewrite.Capture;
import io.partita.passes.rewrite.Match;
import io.partita.passes.rewrite.Pattern;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** The operations between a softmax and the product with the values. */
final class Probabilities {
  private static final int MAX_STEPS = 6;
  private static final Capture<Value> GUARDED = Capture.of("guarded");

  /**
   * {@code isnan(p) ? 0 : p}: a row without visible keys gives zeros, as in the definition of
   * attention.
   */
  private static final Pattern GUARD =
      op(
          Elementwise.Select.class,
          unary(UnaryFunction.IS_NAN, any(GUARDED)),
          number(0),
          any(GUARDED));

  /** Captures {@code hidden ? 0 : p} or {@code visible ? p : 0}, if there is one. */
  static final Capture<Value> ZEROED = Capture.of("zeroed");

  private Probabilities() {}

  static Pattern through(Pattern softmax) {
    return (value, graph, match) -> {
      Value at = value;
      Optional<Match> before = Optional.of(match);
      for (int step = 0; step < MAX_STEPS; step++) {
        var guard = GUARD.match(at, graph);
        if (guard.isPresent()) {
          at = guard.get().get(GUARDED);
        } else if (zeroed(at, graph).isPresent()) {
          before = any(ZEROED).match(at, graph, before.get());
          if (before.isEmpty()) {
            return before;
          }
          at = zeroed(at, graph).get();
        } else if (graph.definition(at).orElse(null) instanceof Node node && isSkipped(node)) {
          at = graph.operand(node, 0);
        } else {
          break;
        }
      }
      return softmax.match(at, graph, before.get());
    };
  }

  /** Returns the probabilities, some of which the value replaces by zero. */
  private static Optional<Value> zeroed(Value value, GraphEditor graph) {
    Node node = graph.definition(value).orElse(null);
    if (node == null || !(node.op() instanceof Elementwise.Select)) {
      return Optional.empty();
    }
    boolean isFirstZero = isZero(graph.operand(node, 1), graph);
    Value probabilities = graph.operand(node, isFirstZero ? 2 : 1);
    return isFirstZero != isZero(graph.operand(node, 2), graph)
            && probabilities.type().equals(value.type())
        ? Optional.of(probabilities)
        : Optional.empty();
  }

  private static boolean isZero(Value value, GraphEditor graph) {
    return Parameters.uniform(value, graph).orElse(1) == 0;
  }

  /**
   * Returns the masks of the scores; one that also zeroes probabilities hides keys completely.
   * Empty if no mask of the scores has the condition that zeroes probabilities.
   *
   * @param select the selection that zeroes probabilities
   */
  static Optional<List<MaskTerm>> hidingZeroed(
      List<MaskTerm> masks, Value select, GraphEditor graph) {
    Node node = graph.definition(select).orElseThrow();
    Value condition = graph.operand(node, 0);
    boolean exchanged = isZero(graph.operand(node, 1), graph);
    List<MaskTerm> hiding = new ArrayList<>();
    boolean found = false;
    for (MaskTerm mask : masks) {
      if (mask instanceof MaskTerm.Replacing replacing
          && graph.resolve(replacing.value()) == condition
          && replacing.exchanged() == exchanged
          && replacing.applied().equals(select.type().shape())) {
        found = true;
        hiding.add(
            new MaskTerm.Replacing(
                condition, exchanged, Double.NEGATIVE_INFINITY, replacing.applied()));
      } else {
        hiding.add(mask);
      }
    }
    boolean isFloored = masks.stream().anyMatch(mask -> mask instanceof MaskTerm.Floor);
    return found && !isFloored ? Optional.of(hiding) : Optional.empty();
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
