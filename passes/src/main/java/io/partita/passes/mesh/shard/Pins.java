package io.partita.passes.mesh.shard;

import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.mesh.Split;
import io.partita.ir.propagate.LayoutDemands;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The layouts that strategies demand of values and nodes. The first demand for a dimension or an
 * axis wins.
 */
final class Pins {
  private final Map<Value, List<Split>> splits = new LinkedHashMap<>();
  private final Map<Value, Set<String>> whole = new LinkedHashMap<>();
  private final Map<Value, Map<String, Integer>> places = new LinkedHashMap<>();
  private final Map<Node, Set<String>> unsplit = new LinkedHashMap<>();

  /**
   * Splits a dimension, unless it is split already, or one of the axes splits another dimension. A
   * single element is not split.
   */
  void split(Value value, int dim, Split split) {
    if (split.isNone() || value.type().dim(dim).is(1)) {
      return;
    }
    List<Split> before =
        splits.getOrDefault(value, Collections.nCopies(value.type().rank(), Split.NONE));
    boolean isFree =
        before.get(dim).isNone()
            && before.stream().allMatch(each -> Collections.disjoint(each.axes(), split.axes()));
    if (isFree) {
      List<Split> after = new ArrayList<>(before);
      after.set(dim, split);
      splits.put(value, after);
    }
  }

  /** Demands that all devices along the axes hold the value, however it is computed. */
  void whole(Value value, Collection<String> axes) {
    whole.computeIfAbsent(value, key -> new LinkedHashSet<>()).addAll(axes);
  }

  /** Demands that only one place on the axes holds the value. */
  void place(Value value, Collection<String> axes, int place) {
    Map<String, Integer> known = places.computeIfAbsent(value, key -> new LinkedHashMap<>());
    axes.forEach(axis -> known.putIfAbsent(axis, place));
  }

  /** Demands that all devices along the axes compute the same. */
  void unsplit(Node node, Collection<String> axes) {
    unsplit.computeIfAbsent(node, key -> new LinkedHashSet<>()).addAll(axes);
  }

  boolean has(Value value) {
    return splits.containsKey(value);
  }

  LayoutDemands demands() {
    return new LayoutDemands(Map.of(), splits, whole, places, unsplit);
  }
}
