package io.partita.ir.propagate;

import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.mesh.Resharding;
import java.util.List;

/**
 * A place where a layout changes.
 *
 * @param readers the users of the value in its new layout; empty if all are
 */
public record ReshardPlace(Value value, Resharding change, List<Node> readers) {
  public ReshardPlace {
    readers = List.copyOf(readers);
  }

  public boolean isAtDefinition() {
    return readers.isEmpty();
  }

  @Override
  public String toString() {
    return value
        + ": "
        + change.from()
        + " to "
        + change.to()
        + " "
        + change.kinds()
        + (isAtDefinition() ? "" : " for " + readers);
  }
}
