package io.partita.passes.schedule.legalize;

import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Op;
import io.partita.ir.op.Structured;
import io.partita.ir.op.Structured.Attention;
import io.partita.ir.op.Structured.CacheUpdate;
import io.partita.ir.type.Dim;
import io.partita.ir.type.Shape;
import io.partita.passes.rewrite.Match;
import io.partita.passes.rewrite.Pattern;
import io.partita.passes.rewrite.RewriteRule;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;

/**
 * {@code f(x) -> concat(f(x[0]), f(x[1]), …)} for attention with lengths of keys and updates of
 * caches: a loop reads one position, so each batch has a loop of its own.
 */
final class SplitBatches implements RewriteRule {
  @Override
  public Class<? extends Op> root() {
    return Structured.class;
  }

  @Override
  public Pattern pattern() {
    return Pattern.any();
  }

  @Override
  public Optional<Value> apply(Node node, Match match, GraphEditor graph) {
    boolean hasPositions =
        node.op() instanceof CacheUpdate
            || node.op() instanceof Attention attention && attention.keyLength();
    Shape result = node.results().getFirst().type().shape();
    if (!hasPositions || result.elements() == 0 || result.extent(0) == 1) {
      return Optional.empty();
    }
    List<Value> operands = graph.operands(node);
    List<Value> parts = new ArrayList<>();
    for (long batch = 0; batch < result.extent(0); batch++) {
      List<Value> own = new ArrayList<>();
      for (Value operand : operands) {
        own.add(isShared(node.op(), operand) ? operand : slice(operand, batch, graph));
      }
      parts.add(graph.add(node.op(), own));
    }
    return Optional.of(graph.add(new Movement.Concat(0), parts));
  }

  /** A mask may be one for all batches. */
  private static boolean isShared(Op op, Value operand) {
    return op instanceof Attention
        && operand.type().rank() != 1
        && (operand.type().rank() < 4 || operand.type().dim(0).is(1));
  }

  private static Value slice(Value value, long batch, GraphEditor graph) {
    Shape shape = value.type().shape();
    List<Dim> starts = new ArrayList<>(Collections.nCopies(shape.rank(), Dim.of(0)));
    starts.set(0, Dim.of(batch));
    List<Dim> sizes = shape.with(0, Dim.ONE).dims();
    List<Long> steps = Collections.nCopies(shape.rank(), 1L);
    return graph.add(new Movement.Slice(starts, sizes, steps), value);
  }
}
