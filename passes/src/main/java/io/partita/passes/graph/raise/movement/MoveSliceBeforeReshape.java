package io.partita.passes.graph.raise.movement;

import static io.partita.passes.rewrite.Pattern.any;
import static io.partita.passes.rewrite.Pattern.op;

import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Op;
import io.partita.ir.type.Dim;
import io.partita.ir.type.Shape;
import io.partita.passes.rewrite.Capture;
import io.partita.passes.rewrite.Match;
import io.partita.passes.rewrite.Pattern;
import io.partita.passes.rewrite.RewriteRule;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * {@code slice(reshape(x)) -> reshape(slice(x))}, where the reshape only adds or drops dimensions
 * of 1 and the slice does not cut these.
 */
final class MoveSliceBeforeReshape implements RewriteRule {
  private static final Capture<Value> X = Capture.of("x");
  private static final Pattern PATTERN =
      op(Movement.Slice.class, op(Movement.Reshape.class, any(X)));

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
    Shape before = match.get(X).type().shape();
    Shape after = graph.operand(node, 0).type().shape();
    List<Integer> kept = axesBeyondOne(after);
    List<Integer> axes = axesBeyondOne(before);
    if (!kept.stream().map(after::dim).toList().equals(axes.stream().map(before::dim).toList())
        || !slice.sizes().stream().allMatch(size -> size.isAtLeast(1))) {
      return Optional.empty();
    }
    List<Dim> starts = new ArrayList<>();
    List<Dim> sizes = new ArrayList<>();
    List<Long> steps = new ArrayList<>();
    for (int axis = 0; axis < before.rank(); axis++) {
      int place = axes.indexOf(axis);
      starts.add(place < 0 ? Dim.ZERO : slice.starts().get(kept.get(place)));
      sizes.add(place < 0 ? Dim.ONE : slice.sizes().get(kept.get(place)));
      steps.add(place < 0 ? 1L : slice.steps().get(kept.get(place)));
    }
    Value cut = graph.add(new Movement.Slice(starts, sizes, steps), match.get(X));
    return Optional.of(graph.add(new Movement.Reshape(new Shape(slice.sizes())), cut));
  }

  private static List<Integer> axesBeyondOne(Shape shape) {
    List<Integer> axes = new ArrayList<>();
    for (int axis = 0; axis < shape.rank(); axis++) {
      if (!shape.dim(axis).is(1)) {
        axes.add(axis);
      }
    }
    return axes;
  }
}
