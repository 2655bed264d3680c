package io.partita.passes.schedule;

import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Communication;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Op;
import io.partita.ir.op.Structured;
import io.partita.ir.schedule.Packing;
import io.partita.passes.schedule.legalize.Group;
import io.partita.passes.schedule.lower.ReorderedLoads;
import io.partita.passes.schedule.lower.TileSpace;
import io.partita.passes.schedule.view.Storage;
import io.partita.passes.schedule.view.StoredTypes;
import io.partita.passes.schedule.view.ViewRules;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Values that no strided view of what they reorder has, and that aren't copied yet: a reshape of a
 * transpose joins dimensions that aren't adjacent, as after a gather of columns. Transfers take
 * such tiles in several parts, so loops may load them from where the elements are.
 */
final class ReorderedValues {
  private final Map<Value, Storage> sources = new IdentityHashMap<>();
  private final StoredTypes types;

  ReorderedValues(StoredTypes types) {
    this.types = types;
  }

  /**
   * Adds the result of a reshape, if transfers can load it from the storage of the operand.
   *
   * @param readers the nodes that read the result
   * @return whether it was added
   */
  boolean add(Node reshape, Storage operand, List<Node> readers) {
    boolean isPossible =
        operand.packing() == Packing.PLAIN
            && operand.element().bits() >= Byte.SIZE
            && operand.element() == types.element(reshape.result())
            && readers.stream().allMatch(reader -> isLoop(reader, reshape.result()));
    if (isPossible) {
      sources.put(reshape.result(), operand);
    }
    return isPossible;
  }

  /** Whether a reader is always a loop that loads its operands. */
  private boolean isLoop(Node reader, Value operand) {
    return switch (reader.op()) {
      case Movement movement -> false;
      case Communication communication -> false;
      case Elementwise.Select select -> false;
      case Structured.CacheUpdate update -> false;
      case Structured.Embedding embedding -> false;
      case Op other ->
          ViewRules.view(other, Storage.fresh(operand, types), types.type(reader.result()))
              .isEmpty();
    };
  }

  boolean contains(Value value) {
    return sources.containsKey(value);
  }

  /** Returns where the elements of a value are, with other dimensions; empty for other values. */
  Optional<Storage> source(Value value) {
    return Optional.ofNullable(sources.get(value));
  }

  /** Removes a value that is copied. */
  void remove(Value value) {
    sources.remove(value);
  }

  /**
   * Returns a loop that loads these values from where their elements are.
   *
   * @param space the loop with contiguous ones
   * @param copied a value that is copied all the same; or null
   */
  Optional<TileSpace> loads(Optional<TileSpace> space, Group group, Value copied) {
    Optional<TileSpace> found = space;
    for (int i = 0; i < group.operands().size(); i++) {
      Value operand = group.operands().get(i);
      if (contains(operand) && operand != copied) {
        int number = i;
        found = found.flatMap(own -> ReorderedLoads.of(own, number, sources.get(operand).view()));
      }
    }
    return found;
  }
}
