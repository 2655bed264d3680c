package io.partita.passes.graph.simplify;

import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Op;
import io.partita.ir.op.Source;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Merges nodes with equal operations on the same operands. */
final class CommonSubexpressions {
  /**
   * The size above which equal constants aren't merged: they are separate weights that are equal by
   * chance.
   */
  private static final long MAX_ELEMENTS = 4096;

  private CommonSubexpressions() {}

  private record Key(Op op, List<Value> operands) {}

  static boolean merge(GraphEditor graph) {
    Map<Key, Node> first = new HashMap<>();
    boolean changed = false;
    for (Node node : graph.nodes()) {
      if (node.op() instanceof Source.Constant(var data) && data.size() > MAX_ELEMENTS) {
        continue;
      }
      Node same = first.putIfAbsent(new Key(node.op(), graph.operands(node)), node);
      if (same != null) {
        for (int i = 0; i < node.results().size(); i++) {
          graph.replace(node.results().get(i), same.results().get(i));
        }
        changed = true;
      }
    }
    return changed;
  }
}
