package io.partita.passes.schedule.legalize;

import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Movement.PadMode;
import io.partita.ir.op.Op;
import io.partita.ir.type.Dim;
import io.partita.passes.rewrite.Match;
import io.partita.passes.rewrite.Pattern;
import io.partita.passes.rewrite.RewriteRule;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Replaces paddings that repeat elements by concatenations of slices: forwards, backwards, or of
 * one repeated element.
 */
final class RepeatBorders implements RewriteRule {
  @Override
  public Class<? extends Op> root() {
    return Movement.Pad.class;
  }

  @Override
  public Pattern pattern() {
    return Pattern.result(Movement.Pad.class, pad -> pad.mode() != PadMode.CONSTANT);
  }

  @Override
  public Optional<Value> apply(Node node, Match match, GraphEditor graph) {
    Movement.Pad pad = (Movement.Pad) node.op();
    Value x = graph.operand(node, 0);
    boolean isEmpty =
        x.type().shape().elements() == 0 || node.result().type().shape().elements() == 0;
    if (isEmpty) {
      return Optional.empty();
    }
    Terms terms = new Terms(graph);
    Value padded = x;
    for (int axis = 0; axis < x.type().rank(); axis++) {
      long before = Math.max(0, -pad.low().get(axis));
      long after = Math.max(0, -pad.high().get(axis));
      long extent = x.type().shape().extent(axis) - before - after;
      if (extent <= 0) {
        return Optional.empty();
      }
      padded = terms.slice(padded, axis, before, extent);
      padded = repeated(terms, padded, axis, origins(pad, axis, extent));
    }
    return Optional.of(padded);
  }

  /** Returns the index that each index of the result repeats. */
  private static long[] origins(Movement.Pad pad, int axis, long extent) {
    long low = Math.max(0, pad.low().get(axis));
    long high = Math.max(0, pad.high().get(axis));
    long[] origins = new long[Math.toIntExact(low + extent + high)];
    long period = Math.max(1, 2 * (extent - 1));
    for (int i = 0; i < origins.length; i++) {
      long place = i - low;
      long phase = Math.floorMod(place, period);
      origins[i] =
          switch (pad.mode()) {
            case EDGE -> Math.clamp(place, 0, extent - 1);
            case WRAP -> Math.floorMod(place, extent);
            case REFLECT -> Math.min(phase, period - phase);
            case CONSTANT -> throw new IllegalArgumentException(pad.toString());
          };
    }
    return origins;
  }

  private static Value repeated(Terms terms, Value x, int axis, long[] origins) {
    if (origins.length == x.type().shape().extent(axis)) {
      return x;
    }
    List<Value> parts = new ArrayList<>();
    int from = 0;
    while (from < origins.length) {
      int to = from + 1;
      long step = to < origins.length ? origins[to] - origins[from] : 1;
      boolean isLine = Math.abs(step) <= 1;
      while (isLine && to < origins.length && origins[to] - origins[to - 1] == step) {
        to++;
      }
      parts.add(part(terms, x, axis, origins[from], to - from, isLine ? step : 1));
      from = to;
    }
    return terms.concat(axis, parts);
  }

  private static Value part(Terms terms, Value x, int axis, long first, long count, long step) {
    if (step != 0 || count == 1) {
      return terms.slice(x, axis, first, count, count == 1 ? 1 : step);
    }
    Value one = terms.slice(x, axis, first, 1);
    return terms
        .graph()
        .add(new Movement.Broadcast(one.type().shape().with(axis, Dim.of(count))), one);
  }
}
