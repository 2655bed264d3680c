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
 * How each value of a graph lies on a mesh, and where that must change.
 *
 * @param layouts in which each value is held for its readers
 * @param nodes what each node reads and gives
 * @param places in execution order
 * @param conflicts splits that were asked for and couldn't pass, the first of each node and factor
 */
public record LayoutPlan(
    Graph graph,
    Mesh mesh,
    Map<Value, Layout> layouts,
    Map<Node, NodeLayouts> nodes,
    List<ReshardPlace> places,
    List<Conflict> conflicts) {
  /** The places where devices must exchange something. */
  public List<ReshardPlace> syncs() {
    return places.stream().filter(place -> place.change().communicates()).toList();
  }

  public Layout layout(Value value) {
    return layouts.get(value);
  }
}
