package io.partita.ir.propagate;

import io.partita.ir.graph.Node;
import io.partita.ir.mesh.Split;

/**
 * A split that could not be propagated through a node, because of another split or the rule of the
 * node.
 */
public record Conflict(Node node, String value, int dim, Split split, String rule) {
  @Override
  public String toString() {
    return "node "
        + node
        + " can't take dimension "
        + dim
        + " of "
        + value
        + " split over "
        + split.axes()
        + ": "
        + rule;
  }
}
