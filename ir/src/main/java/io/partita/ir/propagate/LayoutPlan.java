package io.partita.ir.propagate;

import io.partita.ir.factor.NodeLayouts;
import io.partita.ir.graph.Graph;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.mesh.Layout;
import io.partita.ir.mesh.Mesh;
import java.util.List;
import java.util.Map;

/**
 * The layouts of the values of a graph on a mesh, and the places where they change.
 *
 * @param layouts the layout of each value for its users
 * @param nodes the layouts of operands and results of each node
 * @param places the changes in execution order
 * @param conflicts demanded splits that couldn't be propagated, the first of each node and factor
 */
public record LayoutPlan(
    Graph graph,
    Mesh mesh,
    Map<Value, Layout> layouts,
    Map<Node, NodeLayouts> nodes,
    List<ReshardPlace> places,
    List<Conflict> conflicts) {
  /** Returns the changes that need communication. */
  public List<ReshardPlace> syncs() {
    return places.stream().filter(place -> place.change().communicates()).toList();
  }

  public Layout layout(Value value) {
    return layouts.get(value);
  }
}
