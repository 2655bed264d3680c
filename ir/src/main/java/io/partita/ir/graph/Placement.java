package io.partita.ir.graph;

import io.partita.ir.mesh.Layout;
import io.partita.ir.mesh.Mesh;
import java.util.Collections;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * The devices of a module of the mesh dialect, and the layouts of its inputs. All other layouts are
 * inferred: constants are replicated, a {@code sync} states the layout of its result, and the
 * factor rules of all other operations propagate layouts from operands to results.
 *
 * @param inputs the layouts by name of the graph input; inputs without one are replicated
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
