package io.partita.passes.graph.raise.movement;

import static io.partita.passes.rewrite.Pattern.any;
import static io.partita.passes.rewrite.Pattern.op;

import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Op;
import io.partita.ir.type.Dim;
import io.partita.passes.rewrite.Capture;
import io.partita.passes.rewrite.Match;
import io.partita.passes.rewrite.Pattern;
import io.partita.passes.rewrite.RewriteRule;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * {@code slice(transpose(x)) -> transpose(slice(x))}, so that a slice reaches the value that it
 * cuts.
 */
final class MoveSliceBeforeTranspose implements RewriteRule {
  private static final Capture<Value> X = Capture.of("x");
  private static final Capture<Value> TRANSPOSED = Capture.of("transposed");
  private static final Pattern PATTERN =
      op(Movement.Slice.class, op(Movement.Transpose.class, any(X)).as(TRANSPOSED));

  @Override
  public Class<? extends Op> root() {
    return Movement.Slice.class;
  }

  @Override
  public Pattern pattern() {
    return PATTERN;
  }

  @Override
  public Optional<Value> apply(Node node, Match match, GraphEditor graph) {
    Movement.Slice slice = (Movement.Slice) node.op();
    Movement.Transpose transpose = (Movement.Transpose) match.get(TRANSPOSED).definition().op();
    List<Integer> permutation = transpose.permutation();
    List<Dim> starts = new ArrayList<>(slice.starts());
    List<Dim> sizes = new ArrayList<>(slice.sizes());
    List<Long> steps = new ArrayList<>(slice.steps());
    for (int axis = 0; axis < permutation.size(); axis++) {
      starts.set(permutation.get(axis), slice.starts().get(axis));
      sizes.set(permutation.get(axis), slice.sizes().get(axis));
      steps.set(permutation.get(axis), slice.steps().get(axis));
    }
    Value cut = graph.add(new Movement.Slice(starts, sizes, steps), match.get(X));
    return Optional.of(graph.add(transpose, cut));
  }
}
