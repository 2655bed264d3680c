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
 * The demands from which propagation begins.
 *
 * @param pinned the fixed layouts of some values
 * @param splits the initial splits of values; a value may be split over further axes, or have the
 *     layout that its node gives if that split is impossible
 * @param whole the axes over which all devices hold a value that isn't pinned, however it is
 *     computed
 * @param places the places of values that aren't pinned, by axis, wherever they are computed
 * @param unsplit the axes over which a node must not be split, so that all devices along them
 *     compute the same
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

  /** Returns the axes over which a value isn't split. */
  Set<String> unsplitAxes(Value value) {
    Set<String> axes = new LinkedHashSet<>(whole.getOrDefault(value, Set.of()));
    axes.addAll(places.getOrDefault(value, Map.of()).keySet());
    return axes;
  }
}
