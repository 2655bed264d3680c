package io.partita.passes.graph.state;

import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Node;
import io.partita.ir.type.Dim;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * Tables of a decoder whose rows are taken by position, such as learned position embeddings. A
 * cache must not hold more tokens than they have rows.
 */
final class PositionRows {
  /** The last position at which tables are examined. */
  private static final long LAST = 1 << 16;

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
   * Finds the first position without a row by bisection.
   *
   * @return the number of positions, if it is at most {@value #LAST} and cheap to find
   * @throws CapacityBeyondModel if there are fewer than {@code capacity}
   */
  OptionalLong require(long capacity, Dim fresh) {
    boolean isOpen =
        !fresh.isStatic()
            || fresh.value() > capacity
            || !positional.open(lookups.stream().map(Node::result).toList()).isEmpty();
    if (isOpen || lookups.isEmpty()) {
      return OptionalLong.empty();
    }
    long last = capacity - fresh.value();
    missing(lookups, last)
        .ifPresent(
            why -> {
              throw firstBeyond(lookups, -1, last, why, fresh.value());
            });
    List<Node> cheap =
        lookups.stream().filter(lookup -> positional.isShort(lookup.result())).toList();
    return last < LAST
        ? missing(cheap, LAST)
            .map(why -> firstBeyond(cheap, last, LAST, why, fresh.value()).positions())
            .map(OptionalLong::of)
            .orElseGet(OptionalLong::empty)
        : OptionalLong.empty();
  }

  private CapacityBeyondModel firstBeyond(
      List<Node> from, long lastThatExists, long oneThatFails, String why, long fresh) {
    long exists = lastThatExists;
    long fails = oneThatFails;
    String missing = why;
    while (fails - exists > 1) {
      long middle = (exists + fails) / 2;
      Optional<String> there = missing(from, middle);
      if (there.isEmpty()) {
        exists = middle;
      } else {
        fails = middle;
        missing = there.get();
      }
    }
    return new CapacityBeyondModel(fails + fresh - 1, missing);
  }

  /** Describes the missing row if the first new token has this position. */
  private Optional<String> missing(List<Node> from, long position) {
    for (Node lookup : from) {
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
