package io.partita.ir.propagate;

import io.partita.ir.factor.NodeLayouts;
import io.partita.ir.graph.Module;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.mesh.Layout;
import java.util.Map;

/**
 * The layouts of a module of the mesh dialect, derived from those of its inputs and its syncs.
 *
 * @param layouts of each value
 * @param nodes of each node but syncs: how its factors are split
 */
public record LayoutInference(Map<Value, Layout> layouts, Map<Node, NodeLayouts> nodes) {
  /**
   * Derives all layouts.
   *
   * @throws io.partita.ir.diagnostic.PartitaException when an operation can't take its operands in
   *     the layouts in which they are; one diagnostic for each
   */
  public static LayoutInference of(Module module) {
    throw new UnsupportedOperationException();
  }

  public Layout layout(Value value) {
    return layouts.get(value);
  }
}
