package io.partita.passes.mesh.speculate;

import io.partita.ir.graph.Graph;
import io.partita.ir.graph.Module;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Structured;
import io.partita.ir.propagate.LayoutInference;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.Set;

/**
 * Finds where the region after an attention ends: at the value through which all that follows
 * depends on the attention, such as the residual stream. Of several such values, it is the last of
 * the smallest ones.
 */
final class RegionEnds {
  private final Graph graph;
  private final Optional<LayoutInference> layouts;
  private final Map<Value, Integer> lastUse = new IdentityHashMap<>();

  private RegionEnds(Module module) {
    this.graph = module.graph();
    this.layouts = module.placement().map(placement -> LayoutInference.of(module));
    for (int i = 0; i < graph.nodes().size(); i++) {
      for (Value operand : graph.nodes().get(i).operands()) {
        lastUse.put(operand, i);
      }
    }
    graph.outputs().forEach(output -> lastUse.put(output.value(), Integer.MAX_VALUE));
  }

  /**
   * Returns the node that ends the region of each attention.
   *
   * @param attentions in execution order
   * @throws io.partita.ir.diagnostic.PartitaException if a region has no end
   */
  static SequencedMap<Node, Node> of(Module module, List<Node> attentions) {
    RegionEnds ends = new RegionEnds(module);
    SequencedMap<Node, Node> found = new LinkedHashMap<>();
    for (int i = 0; i < attentions.size(); i++) {
      Optional<Node> next =
          i + 1 < attentions.size() ? Optional.of(attentions.get(i + 1)) : Optional.empty();
      found.put(attentions.get(i), ends.end(attentions.get(i), next));
    }
    return found;
  }

  private Node end(Node attention, Optional<Node> next) {
    Set<Value> dependent = Collections.newSetFromMap(new IdentityHashMap<>());
    dependent.addAll(attention.results());
    Node best = null;
    List<Node> nodes = graph.nodes();
    for (int i = nodes.indexOf(attention) + 1; i < nodes.size(); i++) {
      Node node = nodes.get(i);
      if (next.isPresent() && node == next.get()) {
        break;
      }
      if (node.operands().stream().noneMatch(dependent::contains)) {
        continue;
      }
      if (node.op() instanceof Structured.CacheUpdate) {
        break;
      }
      dependent.addAll(node.results());
      int at = i;
      dependent.removeIf(value -> lastUse.getOrDefault(value, -1) <= at);
      if (dependent.size() == 1
          && node.results().size() == 1
          && dependent.contains(node.result())
          && isWhole(node.result())
          && (best == null || size(node) <= size(best))) {
        best = node;
      }
    }
    if (best == null) {
      throw SpeculationFailure.noEnd(attention);
    }
    return best;
  }

  private boolean isWhole(Value value) {
    return layouts.map(all -> all.layout(value).isJoined()).orElse(true);
  }

  private static long size(Node node) {
    return node.result().type().shape().elements();
  }
}
