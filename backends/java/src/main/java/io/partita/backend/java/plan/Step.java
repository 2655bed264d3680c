package io.partita.backend.java.plan;

import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import java.util.List;

/**
 * One computation of the emitted program.
 *
 * @param node the node to compute
 * @param fused element-wise nodes computed along with it, whose results are never stored, in order
 * @param loads large constants that are read from the weights file into an array just before
 */
public record Step(Node node, List<Node> fused, List<Value> loads) {
  public Step {
    fused = List.copyOf(fused);
    loads = List.copyOf(loads);
  }
}
