package io.partita.ir.propagate;

import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.mesh.Resharding;
import java.util.List;

/**
 * Where a layout must change.
 *
 * @param readers who reads the value in its new layout; none when all do, from its definition on
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
