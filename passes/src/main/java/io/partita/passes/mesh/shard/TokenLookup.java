package io.partita.passes.mesh.shard;

import io.partita.ir.graph.Graph;
import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Movement;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.Shape;
import java.util.OptionalInt;
import java.util.stream.IntStream;

/**
 * Replaces slices of one index, such as a class token, by gathers: {@code slice [b s e] -> [b 1
 * e]}. In a distributed gather, devices without the token contribute zeros, so that one token is
 * sent instead of all.
 */
final class TokenLookup {
  private TokenLookup() {}

  static Graph apply(Graph graph) {
    GraphEditor editor = new GraphEditor(graph);
    TrainedWeights weights = new TrainedWeights(graph);
    boolean changed = false;
    for (Node node : graph.nodes()) {
      if (node.op() instanceof Movement.Slice slice
          && !weights.isTrained(node.operand(0))
          && node.operand(0).type().isStatic()) {
        OptionalInt dim = onlyCut(slice, node.operand(0));
        if (dim.isPresent()) {
          int axis = dim.getAsInt();
          Value index =
              editor
                  .before(node)
                  .constant(Tensor.longs(Shape.of(1), slice.starts().get(axis).value()));
          Value found = editor.add(new Movement.Gather(axis), node.operand(0), index);
          editor.replace(node.result(), found);
          changed = true;
        }
      }
    }
    return changed ? editor.freeze() : graph;
  }

  /** Returns the dimension of which one index is taken, if all others are whole. */
  private static OptionalInt onlyCut(Movement.Slice slice, Value from) {
    int[] cut =
        IntStream.range(0, slice.sizes().size())
            .filter(dim -> !slice.sizes().get(dim).equals(from.type().dim(dim)))
            .toArray();
    boolean isOne =
        cut.length == 1 && slice.sizes().get(cut[0]).is(1) && slice.starts().get(cut[0]).isStatic();
    return isOne ? OptionalInt.of(cut[0]) : OptionalInt.empty();
  }
}
