package io.partita.passes.graph.raise.attention;

import static io.partita.passes.rewrite.Pattern.any;
import static io.partita.passes.rewrite.Pattern.either;
import static io.partita.passes.rewrite.Pattern.op;
import static io.partita.passes.rewrite.Pattern.operand;

import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Op;
import io.partita.ir.op.Structured;
import io.partita.ir.type.Dim;
import io.partita.ir.type.Shape;
import io.partita.passes.graph.raise.Parameters;
import io.partita.passes.rewrite.Capture;
import io.partita.passes.rewrite.Match;
import io.partita.passes.rewrite.Pattern;
import io.partita.passes.rewrite.RewriteRule;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

/**
 * {@code attention(q, repeat(k), repeat(v)) -> attention(q, k, v)}: the number of repetitions is
 * the number of query heads per kv head.
 */
final class RemoveRepeatedKeyValueHeads implements RewriteRule {
  private static final Capture<Value> SHARED = Capture.of("shared");
  private static final Capture<Value> REPEATED = Capture.of("repeated");
  private static final Pattern BROADCAST = op(Movement.Broadcast.class, any(SHARED)).as(REPEATED);
  private static final Pattern REPETITION =
      either(BROADCAST, op(Movement.Reshape.class, BROADCAST));

  /** The same pattern without captures, for use on both keys and values. */
  private static final Pattern REPEATS =
      either(
          op(Movement.Broadcast.class, any()),
          op(Movement.Reshape.class, op(Movement.Broadcast.class, any())));

  private static final Pattern PATTERN = operand(1, REPEATS).and(operand(2, REPEATS));

  @Override
  public Class<? extends Op> root() {
    return Structured.Attention.class;
  }

  @Override
  public Pattern pattern() {
    return PATTERN;
  }

  @Override
  public Optional<Value> apply(Node node, Match match, GraphEditor graph) {
    Optional<Shape> k = shared(graph.operand(node, 1), graph);
    Optional<Shape> v = shared(graph.operand(node, 2), graph);
    if (k.isEmpty() || v.isEmpty() || !k.get().range(0, 3).equals(v.get().range(0, 3))) {
      return Optional.empty();
    }
    List<Value> operands = new ArrayList<>(graph.operands(node));
    operands.set(1, removed(operands.get(1), k.get(), graph));
    operands.set(2, removed(operands.get(2), v.get(), graph));
    return Optional.of(graph.add(node.op(), operands));
  }

  /**
   * Returns the shape {@code [batch, kvHeads, keys, d]} if {@code value} repeats each of its heads.
   */
  private static Optional<Shape> shared(Value value, GraphEditor graph) {
    Match match = REPETITION.match(value, graph).orElse(null);
    if (match == null) {
      return Optional.empty();
    }
    Shape heads = value.type().shape();
    Shape to = match.get(REPEATED).type().shape();
    Shape from = match.get(SHARED).type().shape();
    int axis = repeatedAxis(from, to);
    if (axis < 0) {
      return Optional.empty();
    }
    Dim shared = heads.dim(1).dividedExactlyBy(to.dim(axis));
    // What is before the repeated dimension counts heads, in whatever dimensions it is written.
    return shared != null && from.range(0, axis).size().equals(heads.dim(0).times(shared))
        ? Optional.of(heads.with(1, shared))
        : Optional.empty();
  }

  /** Returns the only dimension in which the shapes differ, or a negative number. */
  private static int repeatedAxis(Shape from, Shape to) {
    if (from.rank() != to.rank()) {
      return -1;
    }
    int[] differing =
        IntStream.range(0, to.rank()).filter(i -> !from.dim(i).equals(to.dim(i))).toArray();
    return differing.length == 1 ? differing[0] : -1;
  }

  private static Value removed(Value value, Shape shared, GraphEditor graph) {
    Match match = REPETITION.match(value, graph).orElseThrow();
    return Parameters.reshaped(match.get(SHARED), shared, graph);
  }
}
