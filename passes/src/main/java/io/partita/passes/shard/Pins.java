package io.partita.passes.shard;

import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.mesh.Layout;
import io.partita.ir.mesh.Mesh;
import io.partita.ir.mesh.Split;
import io.partita.ir.propagate.LayoutDemands;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;

/** What strategies ask of values and nodes. The first to ask of a dimension or an axis has it. */
final class Pins {
  private final Mesh mesh;
  private final Map<Value, Layout> layouts = new LinkedHashMap<>();
  private final Map<Value, Set<String>> whole = new LinkedHashMap<>();
  private final Map<Value, Map<String, Integer>> places = new LinkedHashMap<>();
  private final Map<Node, Set<String>> unsplit = new LinkedHashMap<>();

  Pins(Mesh mesh) {
    this.mesh = mesh;
  }

  /**
   * Splits a dimension unless it, or some of the axes on another dimension, is split already. One
   * element stays where it is.
   */
  void split(Value value, int dim, Split split) {
    if (split.isNone() || value.type().dim(dim).is(1)) {
      return;
    }
    Layout before = layouts.getOrDefault(value, Layout.replicated(mesh, value.type().rank()));
    boolean free =
        before.splits().get(dim).isNone()
            && split.axes().stream().allMatch(axis -> before.splitBy(axis) < 0);
    if (free) {
      layouts.put(value, before.with(dim, split));
    }
  }

  /** The value is computed in whatever way, but held by all devices along the axes. */
  void whole(Value value, Collection<String> axes) {
    whole.computeIfAbsent(value, key -> new LinkedHashSet<>()).addAll(axes);
  }

  /** The value is held at one place of the axes only. */
  void place(Value value, Collection<String> axes, int place) {
    Map<String, Integer> known = places.computeIfAbsent(value, key -> new LinkedHashMap<>());
    axes.forEach(axis -> known.putIfAbsent(axis, place));
  }

  /** All devices along the axes compute the same. */
  void unsplit(Node node, Collection<String> axes) {
    unsplit.computeIfAbsent(node, key -> new LinkedHashSet<>()).addAll(axes);
  }

  boolean has(Value value) {
    return layouts.containsKey(value);
  }

  LayoutDemands demands() {
    return new LayoutDemands(layouts, whole, places, unsplit);
  }
}
