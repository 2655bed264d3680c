package io.partita.passes.graph.raise.movement;

import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Op;
import io.partita.ir.type.Dim;
import io.partita.passes.rewrite.Match;
import io.partita.passes.rewrite.Pattern;
import io.partita.passes.rewrite.RewriteRule;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * {@code slice(concat(a, b)) -> concat(slice(a), slice(b))}, where the slice keeps the joined
 * dimension whole, and nothing joined is an input or an output, as in a cache: so that fused
 * projections are split that join tokens of texts and images.
 */
final class MoveSliceBeforeConcat implements RewriteRule {
  @Override
  public Class<? extends Op> root() {
    return Movement.Slice.class;
  }

  @Override
  public Pattern pattern() {
    return SliceOfConcat.PATTERN;
  }

  @Override
  public Optional<Value> apply(Node node, Match match, GraphEditor graph) {
    Movement.Slice slice = (Movement.Slice) node.op();
    Value joined = match.get(SliceOfConcat.JOINED);
    Node concat = joined.definition();
    int axis = ((Movement.Concat) concat.op()).axis();
    boolean isWhole =
        slice.starts().get(axis).is(0)
            && slice.steps().get(axis) == 1
            && slice.sizes().get(axis).equals(joined.type().dim(axis));
    if (!isWhole
        || isCache(concat, joined, graph)
        || slice.sizes().equals(joined.type().shape().dims())) {
      return Optional.empty();
    }
    List<Value> parts = new ArrayList<>();
    for (Value part : graph.operands(concat)) {
      List<Dim> sizes = new ArrayList<>(slice.sizes());
      sizes.set(axis, part.type().dim(axis));
      parts.add(graph.add(new Movement.Slice(slice.starts(), sizes, slice.steps()), part));
    }
    return Optional.of(graph.add(concat.op(), parts));
  }

  /** Whether new keys and values, which are one tensor, are joined with past ones. */
  private static boolean isCache(Node concat, Value joined, GraphEditor graph) {
    return graph.operands(concat).stream().anyMatch(Value::isInput)
        || graph.outputs().stream().anyMatch(output -> graph.resolve(output.value()) == joined);
  }
}
