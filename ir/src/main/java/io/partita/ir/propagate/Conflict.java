package io.partita.ir.propagate;

import io.partita.ir.graph.Node;
import io.partita.ir.mesh.Split;

/** A split that couldn't pass through a node, because another one or the node's rule forbids it. */
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
