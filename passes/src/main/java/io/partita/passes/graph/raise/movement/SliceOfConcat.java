package io.partita.passes.graph.raise.movement;

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

/** {@code slice(concat(a, b)) -> slice(b)}, where the slice lies within one part. */
final class SliceOfConcat implements RewriteRule {
  static final Capture<Value> JOINED = Capture.of("joined");
  static final Pattern PATTERN =
      op(
          Movement.Slice.class,
          Pattern.any(JOINED)
              .where(
                  value -> !value.isInput() && value.definition().op() instanceof Movement.Concat));

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
    Node concat = match.get(JOINED).definition();
    int axis = ((Movement.Concat) concat.op()).axis();
    Dim first = slice.starts().get(axis);
    Dim last = first.plus(slice.sizes().get(axis).plus(-1).times(Dim.of(slice.steps().get(axis))));
    Dim start = Dim.ZERO;
    for (Value part : graph.operands(concat)) {
      Dim end = start.plus(part.type().dim(axis));
      if (isWithin(first, start, end) && isWithin(last, start, end)) {
        List<Dim> starts = new ArrayList<>(slice.starts());
        starts.set(axis, first.minus(start));
        return Optional.of(
            graph.add(new Movement.Slice(starts, slice.sizes(), slice.steps()), part));
      }
      start = end;
    }
    return Optional.empty();
  }

  private static boolean isWithin(Dim index, Dim start, Dim end) {
    return index.minus(start).isAtLeast(0) && end.minus(index).isAtLeast(1);
  }
}
