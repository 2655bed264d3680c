package io.partita.ir.graph;

import io.partita.ir.mesh.Layout;
import io.partita.ir.mesh.Mesh;
import java.util.Collections;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * What makes a module one of the mesh dialect: its devices, and how its inputs lie on them. All
 * other layouts follow: a constant is on all devices, a {@code sync} says its result's layout, and
 * the factor rule of any other operation gives the results' layouts from the operands'.
 *
 * @param inputs by name of the graph input, without those that are on all devices
 */
public record Placement(Mesh mesh, SortedMap<String, Layout> inputs) {
  public Placement {
    SortedMap<String, Layout> placed = new TreeMap<>(inputs);
    placed.values().removeIf(Layout::isReplicated);
    inputs = Collections.unmodifiableSortedMap(placed);
  }

  public Placement(Mesh mesh, Map<String, Layout> inputs) {
    this(mesh, (SortedMap<String, Layout>) new TreeMap<>(inputs));
  }

  public Layout layout(Value input) {
    Layout given = inputs.get(input.name());
    return given == null ? Layout.replicated(mesh, input.type().rank()) : given;
  }
}
