package io.partita.ir.graph;

import io.partita.ir.mesh.Exit;
import io.partita.ir.op.Communication;
import io.partita.ir.op.Elementwise;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.SequencedSet;
import java.util.Set;

/**
 * The guarded regions of a graph: for each value the gates whose conditions have to be true so that
 * a device has it.
 */
public final class GatedRegions {
  private final Map<Value, SequencedSet<Node>> gates = new IdentityHashMap<>();

  private GatedRegions() {}

  public static GatedRegions of(Graph graph) {
    GatedRegions regions = new GatedRegions();
    for (Node node : graph.nodes()) {
      SequencedSet<Node> own = regions.derived(node);
      if (!own.isEmpty()) {
        node.results().forEach(result -> regions.gates.put(result, own));
      }
    }
    return regions;
  }

  /** Returns the gates of a value, in execution order; empty if all devices have it. */
  public SequencedSet<Node> of(Value value) {
    return gates.getOrDefault(value, new LinkedHashSet<>());
  }

  private SequencedSet<Node> derived(Node node) {
    return switch (node.op()) {
      case Communication.Gate gate -> {
        SequencedSet<Node> all = union(node.operands());
        all.add(node);
        yield all;
      }
      case Communication.Fork fork ->
          chosen(node.operand(2), List.of(node.operand(0), node.operand(1)));
      case Communication.Settle(var axis, Exit.Priority priority) ->
          union(List.of(node.operand(1)));
      case Elementwise.Select select when node.operand(0).type().shape().elements() == 1 ->
          chosen(node.operand(0), List.of(node.operand(1), node.operand(2)));
      default -> union(node.operands());
    };
  }

  private SequencedSet<Node> union(List<Value> operands) {
    SequencedSet<Node> all = new LinkedHashSet<>();
    operands.forEach(operand -> all.addAll(of(operand)));
    return all;
  }

  /** The gates of the condition, and those that both operands have. */
  private SequencedSet<Node> chosen(Value condition, List<Value> operands) {
    Set<Node> common = new LinkedHashSet<>(of(operands.getFirst()));
    common.retainAll(of(operands.getLast()));
    SequencedSet<Node> all = new LinkedHashSet<>(union(List.of(condition)));
    all.addAll(common);
    return all;
  }

  /**
   * Whether a node chooses by a flag between operands of which one may be absent, so that it must
   * not read both.
   */
  public boolean isChoice(Node node) {
    if (!(node.op() instanceof Elementwise.Select)
        || node.operand(0).type().shape().elements() != 1) {
      return false;
    }
    Set<Node> own = of(node.result());
    return node.operands().stream().skip(1).anyMatch(operand -> !own.containsAll(of(operand)));
  }

  /**
   * Returns the distinct flags that decide what a device computes: the conditions of gates, and the
   * first operands of choices.
   *
   * @param graph the graph of these regions
   */
  public List<Value> flags(Graph graph) {
    SequencedSet<Value> flags = new LinkedHashSet<>();
    for (Node node : graph.nodes()) {
      if (node.op() instanceof Communication.Gate) {
        flags.add(node.operand(1));
      } else if (isChoice(node)) {
        flags.add(node.operand(0));
      }
    }
    return List.copyOf(flags);
  }

  /** Returns the conditions under which a device computes a node; all have to be true. */
  public List<Value> conditions(Node node) {
    List<Value> conditions = new ArrayList<>();
    for (Node gate : derived(node)) {
      conditions.add(gate.operand(1));
    }
    return conditions;
  }
}
