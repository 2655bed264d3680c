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
import io.partita.ir.type.TensorType;
import io.partita.passes.rewrite.Match;
import io.partita.passes.rewrite.Pattern;
import io.partita.passes.rewrite.RewriteRule;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;

/**
 * {@code f(x) -> concat(f(x[0]), f(x[1]), …)} for attention with key lengths and cache updates: a
 * loop reads one position, so each batch element needs its own loop.
 */
final class SplitBatches implements RewriteRule {
  /** The index of the mask, after queries, keys and values. */
  private static final int MASK = 3;

  @Override
  public Class<? extends Op> root() {
    return Structured.class;
  }

  @Override
  public Pattern pattern() {
    return Pattern.result(
        Structured.class,
        op ->
            op instanceof CacheUpdate
                || op instanceof Attention attention && attention.keyLength());
  }

  @Override
  public Optional<Value> apply(Node node, Match match, GraphEditor graph) {
    Shape result = node.results().getFirst().type().shape();
    if (result.elements() == 0 || result.extent(0) == 1) {
      return Optional.empty();
    }
    List<Value> operands = graph.operands(node);
    List<Value> parts = new ArrayList<>();
    for (long batch = 0; batch < result.extent(0); batch++) {
      List<Value> own = new ArrayList<>();
      for (int i = 0; i < operands.size(); i++) {
        boolean isShared = isMask(node.op(), i) && !hasBatches(operands.get(i).type());
        own.add(isShared ? operands.get(i) : slice(operands.get(i), batch, graph));
      }
      parts.add(graph.add(node.op(), own));
    }
    return Optional.of(graph.add(new Movement.Concat(0), parts));
  }

  private static boolean isMask(Op op, int operand) {
    return op instanceof Attention attention && attention.mask() && operand == MASK;
  }

  /** Slices a mask, which broadcasts to batches, heads, queries and keys. */
  private static boolean hasBatches(TensorType mask) {
    return mask.rank() == 4 && !mask.dim(0).is(1);
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
