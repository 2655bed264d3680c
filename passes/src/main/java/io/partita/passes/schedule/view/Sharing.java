package io.partita.passes.schedule.view;

import io.partita.ir.graph.GatedRegions;
import io.partita.ir.graph.Graph;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Communication;
import io.partita.ir.op.Movement;
import java.util.IdentityHashMap;
import java.util.Map;
import java.util.function.Predicate;

/**
 * Groups values that may share a region because some are views or parts of others, and finds the
 * last read of each group. The groups are conservative: a view that later takes a copy is still
 * counted as a view.
 */
public final class Sharing {
  private final Map<Value, Value> parents = new IdentityHashMap<>();
  private final Map<Value, Integer> lastReaders = new IdentityHashMap<>();

  /**
   * @param steps by node, the index of the step that reads its operands
   * @param gathered whether the operand of an exchange may be written into its result
   */
  public Sharing(
      Graph graph, StoredTypes types, Map<Node, Integer> steps, Predicate<Node> gathered) {
    for (Node node : graph.nodes()) {
      boolean isGathered = node.op() instanceof Communication.Exchange && gathered.test(node);
      if (isGathered || types.isSameBits(node) || mayShare(node)) {
        node.operands().forEach(operand -> parents.put(root(operand), root(node.result())));
      }
    }
    GatedRegions regions = GatedRegions.of(graph);
    for (Node node : graph.nodes()) {
      int step = steps.getOrDefault(node, 0);
      node.operands().forEach(operand -> lastReaders.merge(root(operand), step, Math::max));
      // A guard reads its conditions before any task of its region.
      regions.conditions(node).forEach(flag -> lastReaders.merge(root(flag), step, Math::max));
    }
    graph.outputs().forEach(out -> lastReaders.put(root(out.value()), Integer.MAX_VALUE));
  }

  private static boolean mayShare(Node node) {
    return switch (node.op()) {
      case Movement.Reshape reshape -> true;
      case Movement.Transpose transpose -> true;
      case Movement.Slice slice -> true;
      case Movement.Broadcast broadcast -> true;
      case Movement.Concat concat -> true;
      case Communication.Gate gate -> true;
      case io.partita.ir.op.Op other -> false;
    };
  }

  private Value root(Value value) {
    Value root = value;
    while (parents.getOrDefault(root, root) != root) {
      root = parents.get(root);
    }
    return root;
  }

  /**
   * Returns the index of the last step that reads a value or one that may share its region; -1 if
   * none does, {@link Integer#MAX_VALUE} if it is read after the run.
   */
  public int lastReader(Value value) {
    return lastReaders.getOrDefault(root(value), -1);
  }
}
