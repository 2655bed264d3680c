package io.partita.ir.propagate;

import io.partita.ir.diagnostic.Diagnostic;
import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.factor.NodeLayouts;
import io.partita.ir.graph.Module;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Placement;
import io.partita.ir.graph.Value;
import io.partita.ir.mesh.Layout;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;

/**
 * The layouts of a module of the mesh dialect, inferred from those of its inputs and syncs. Sources
 * are replicated; all other operations take their operands with their layouts.
 *
 * @param layouts the layout of each value
 * @param nodes the splits of the factors of each node except syncs
 */
public record LayoutInference(Map<Value, Layout> layouts, Map<Node, NodeLayouts> nodes) {
  /**
   * Infers all layouts in linear time.
   *
   * @param module a module with a placement, valid except for its layouts
   * @throws PartitaException if operations can't take the layouts of their operands, with a {@link
   *     io.partita.ir.mesh.MeshCode} for each
   */
  public static LayoutInference of(Module module) {
    Placement placement = module.placement().orElseThrow();
    Map<Node, NodeLayouts> nodes = new IdentityHashMap<>();
    LayoutDerivation derivation = new LayoutDerivation(placement.mesh(), nodes::put);
    List<Diagnostic> wrong = new ArrayList<>();
    for (Value input : module.graph().inputs()) {
      wrong.addAll(derivation.input(input, placement.layout(input)));
    }
    for (Node node : module.graph().nodes()) {
      wrong.addAll(derivation.add(node));
    }
    if (!wrong.isEmpty()) {
      throw new PartitaException(wrong);
    }
    return new LayoutInference(derivation.layouts(), nodes);
  }

  public Layout layout(Value value) {
    return layouts.get(value);
  }
}
