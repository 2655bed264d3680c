package io.partita.passes.state;

import io.partita.ir.graph.Graph;
import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Movement;
import io.partita.ir.type.Dim;
import java.util.Optional;

/**
 * Keys or values that an attention reads: those of former tokens, joined with new ones.
 *
 * @param joined {@code [batch, kvHeads, past+n, d]}
 * @param past the graph input {@code [batch, kvHeads, past, d]}
 * @param fresh {@code [batch, kvHeads, n, d]}
 * @param output the output that gives the joined or the new ones to the next run
 */
record CachedValues(Value joined, Value past, Value fresh, String output) {
  private static final int KEYS = 2;

  /** None when {@code operand} isn't made so, or no output continues it. */
  static Optional<CachedValues> of(Value operand, GraphEditor graph) {
    Node node = graph.definition(operand).orElse(null);
    if (node == null
        || !(node.op() instanceof Movement.Concat(int axis))
        || axis != KEYS
        || node.operands().size() != 2
        || !graph.operand(node, 0).isInput()) {
      return Optional.empty();
    }
    Value joined = node.result();
    Value fresh = graph.operand(node, 1);
    return graph.outputs().stream()
        .filter(output -> output.value() == joined || output.value() == fresh)
        .map(Graph.Output::name)
        .findFirst()
        .map(name -> new CachedValues(joined, graph.operand(node, 0), fresh, name));
  }

  Dim pastLength() {
    return past.type().dim(KEYS);
  }

  Dim newLength() {
    return fresh.type().dim(KEYS);
  }
}
