package io.partita.passes.graph.state;

import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Node;
import io.partita.ir.type.Dim;
import java.util.List;
import java.util.Optional;

/**
 * The tables of a decoder whose rows are taken by position, such as learned position embeddings: a
 * cache must not have room for more tokens than they have rows.
 */
final class PositionRows {
  private final Positional positional;
  private final List<Node> lookups;

  PositionRows(GraphEditor graph, Positional positional) {
    this.positional = positional;
    this.lookups =
        graph.nodes().stream()
            .filter(
                node -> PositionTables.isLookup(node.op()) && positional.contains(node.result()))
            .toList();
  }

  /**
   * Finds the first position without a row by halving, as positions grow.
   *
   * @throws CapacityBeyondModel when there is one
   */
  void require(long capacity, Dim fresh) {
    boolean isOpen =
        !fresh.isStatic()
            || fresh.value() > capacity
            || !positional.open(lookups.stream().map(Node::result).toList()).isEmpty();
    if (isOpen) {
      return;
    }
    long exists = -1;
    long fails = capacity - fresh.value();
    Optional<String> missing = missing(fails);
    if (missing.isEmpty()) {
      return;
    }
    while (fails - exists > 1) {
      long middle = (exists + fails) / 2;
      Optional<String> there = missing(middle);
      if (there.isEmpty()) {
        exists = middle;
      } else {
        fails = middle;
        missing = there;
      }
    }
    throw new CapacityBeyondModel(fails + fresh.value() - 1, missing.get());
  }

  /** What is missing when the first new token is at a position. */
  private Optional<String> missing(long position) {
    for (Node lookup : lookups) {
      try {
        positional.at(List.of(lookup.result()), position);
      } catch (CapacityBeyondModel beyond) {
        return Optional.of(
            "a table with fewer rows, at node \"" + lookup.name() + "\": " + beyond.found());
      }
    }
    return Optional.empty();
  }
}
