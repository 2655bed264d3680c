package io.partita.ir.propagate;

import io.partita.ir.factor.FactorRule;
import io.partita.ir.factor.FactorRules;
import io.partita.ir.factor.FactorSplits;
import io.partita.ir.graph.Graph;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.mesh.Exit;
import io.partita.ir.mesh.Layout;
import io.partita.ir.mesh.Mesh;
import io.partita.ir.mesh.Split;
import io.partita.ir.op.Communication;
import io.partita.ir.op.Op;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Propagates splits from values to the factors of their nodes and to the other values of these,
 * until nothing changes. A split is kept or refined; a later one that disagrees is a conflict.
 * Nodes are first visited in execution order, so that the result is deterministic.
 */
final class SplitPropagation {
  private final Mesh mesh;
  private final LayoutDemands demands;
  private final Map<Value, Layout> pinned;
  private final Map<Value, List<Split>> splits = new IdentityHashMap<>();
  private final Map<Node, FactorSplits> factors = new IdentityHashMap<>();
  private final Map<Value, List<Node>> readers;
  private final ArrayDeque<Node> open = new ArrayDeque<>();
  private final Set<Node> isOpen = java.util.Collections.newSetFromMap(new IdentityHashMap<>());
  private final Set<List<Object>> reported = new HashSet<>();
  private final List<Conflict> conflicts = new ArrayList<>();

  SplitPropagation(Graph graph, Mesh mesh, LayoutDemands demands) {
    this.mesh = mesh;
    this.demands = demands;
    this.pinned = demands.pinned();
    this.readers = graph.readers();
    splits.putAll(demands.splits());
    pinned.forEach((value, layout) -> splits.put(value, layout.splits()));
    for (Node node : graph.nodes()) {
      FactorRule rule =
          FactorRules.of(node.op(), node.operands().stream().map(Value::type).toList());
      factors.put(node, FactorSplits.none(mesh, rule));
      add(node);
    }
  }

  /** The splits of the factors of each node. */
  Map<Node, FactorSplits> run() {
    while (!open.isEmpty()) {
      Node node = open.removeFirst();
      isOpen.remove(node);
      visit(node);
    }
    return factors;
  }

  List<Conflict> conflicts() {
    return conflicts;
  }

  private void add(Node node) {
    if (isOpen.add(node)) {
      open.addLast(node);
    }
  }

  private void visit(Node node) {
    FactorRule rule = factors.get(node).rule();
    for (int i = 0; i < node.operands().size(); i++) {
      collect(node, node.operand(i), rule.operands().get(i), i);
    }
    for (int i = 0; i < node.results().size(); i++) {
      collect(node, node.results().get(i), rule.results().get(i), -1);
    }
    FactorSplits found = factors.get(node);
    if (found.all().isEmpty()) {
      return;
    }
    for (int i = 0; i < node.operands().size(); i++) {
      spread(node.operand(i), found.operand(i));
    }
    for (int i = 0; i < node.results().size(); i++) {
      spread(node.results().get(i), found.result(i));
    }
  }

  private void collect(Node node, Value value, List<List<Integer>> dims, int operand) {
    List<Split> known = splits.get(value);
    for (int dim = 0; known != null && dim < known.size(); dim++) {
      if (!known.get(dim).isNone() && maySplit(node, operand, dim, known.get(dim))) {
        take(node, value, dims.get(dim), dim, known.get(dim));
      }
    }
  }

  /** Whether the axis of a variation may split a value, which only some operations allow. */
  private static boolean maySplit(Node node, int operand, int dim, Split split) {
    return switch (node.op()) {
      case Communication.Overlay overlay ->
          !split.axes().contains(overlay.axis()) || operand == 1 && dim == overlay.dim();
      case Communication.Settle(String axis, Exit.Part part) -> true;
      case Communication.Variation variation -> !split.axes().contains(variation.axis());
      case Op op -> true;
    };
  }

  private void take(Node node, Value value, List<Integer> dimension, int dim, Split split) {
    Set<String> unsplit = demands.unsplit().getOrDefault(node, Set.of());
    if (split.axes().stream().anyMatch(unsplit::contains)) {
      return;
    }
    FactorSplits before = factors.get(node);
    Optional<FactorSplits> after = before.with(dimension, split);
    if (after.isPresent()) {
      factors.put(node, after.get());
    } else if (reported.add(List.of(System.identityHashCode(node), dim, split))) {
      conflicts.add(new Conflict(node, value.toString(), dim, split, before.rule().toString()));
    }
  }

  /** Refines the split of a value; a pinned one does not change. */
  private void spread(Value value, Layout layout) {
    if (pinned.containsKey(value) || layout.isReplicated() || isShared(value)) {
      return;
    }
    List<Split> before =
        splits.getOrDefault(value, java.util.Collections.nCopies(layout.rank(), Split.NONE));
    List<Split> after = new ArrayList<>(before);
    List<Split> kept = kept(value, layout.splits());
    for (int dim = 0; dim < after.size(); dim++) {
      Split split = kept.get(dim);
      if (split.refines(mesh, after.get(dim)) && isFree(split, after, dim)) {
        after.set(dim, split);
      }
    }
    if (!after.equals(before)) {
      splits.put(value, after);
      Optional.ofNullable(value.definition()).ifPresent(this::add);
      readers.getOrDefault(value, List.of()).forEach(this::add);
    }
  }

  /**
   * Users of a constant split it independently at no cost, so that unrelated users of the same
   * constant do not affect each other.
   */
  private boolean isShared(Value value) {
    return value.definition() != null
        && value.definition().operands().isEmpty()
        && readers.getOrDefault(value, List.of()).size() > 1;
  }

  /** Returns the splits without the axes over which the value must not be split. */
  List<Split> kept(Value value, List<Split> found) {
    Set<String> whole = demands.unsplitAxes(value);
    return whole.isEmpty()
        ? found
        : found.stream()
            .map(
                split -> {
                  int count = 0;
                  while (count < split.axes().size() && !whole.contains(split.axes().get(count))) {
                    count++;
                  }
                  return count == split.axes().size() ? split : split.major(mesh, count);
                })
            .toList();
  }

  private static boolean isFree(Split split, List<Split> splits, int dim) {
    for (int other = 0; other < splits.size(); other++) {
      if (other != dim && !java.util.Collections.disjoint(splits.get(other).axes(), split.axes())) {
        return false;
      }
    }
    return true;
  }

  /** Returns the splits of a graph input. */
  List<Split> splits(Value value) {
    return splits.getOrDefault(
        value, java.util.Collections.nCopies(value.type().rank(), Split.NONE));
  }
}
