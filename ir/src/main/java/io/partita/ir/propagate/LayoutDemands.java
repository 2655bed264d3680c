package io.partita.ir.propagate;

import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.mesh.Layout;
import io.partita.ir.mesh.Split;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * From what propagation sets out.
 *
 * @param pinned the layouts of some values; they stay
 * @param splits of the dimensions of values from which propagation sets out; such a value may be
 *     split over more axes, and is as its node gives it where that can't be split so
 * @param whole axes over which all devices hold a value that isn't pinned, however it's computed
 * @param places where a value that isn't pinned is held, by axis, wherever it's computed
 * @param unsplit axes over which a node must not be split: all devices along them compute the same
 */
public record LayoutDemands(
    Map<Value, Layout> pinned,
    Map<Value, List<Split>> splits,
    Map<Value, Set<String>> whole,
    Map<Value, Map<String, Integer>> places,
    Map<Node, Set<String>> unsplit) {
  public LayoutDemands {
    pinned = Collections.unmodifiableMap(new LinkedHashMap<>(pinned));
    splits = Collections.unmodifiableMap(new LinkedHashMap<>(splits));
    whole = Collections.unmodifiableMap(new LinkedHashMap<>(whole));
    places = Collections.unmodifiableMap(new LinkedHashMap<>(places));
    unsplit = Collections.unmodifiableMap(new LinkedHashMap<>(unsplit));
  }

  public static LayoutDemands of(Map<Value, Layout> pinned) {
    return new LayoutDemands(pinned, Map.of(), Map.of(), Map.of(), Map.of());
  }

  /** The axes over which a value isn't split. */
  Set<String> unsplitAxes(Value value) {
    Set<String> axes = new LinkedHashSet<>(whole.getOrDefault(value, Set.of()));
    axes.addAll(places.getOrDefault(value, Map.of()).keySet());
    return axes;
  }
}
