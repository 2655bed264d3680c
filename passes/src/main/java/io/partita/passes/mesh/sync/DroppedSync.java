package io.partita.passes.mesh.sync;

import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.mesh.Layout;
import io.partita.ir.mesh.Split;
import io.partita.ir.op.Communication;
import io.partita.ir.op.Op;
import io.partita.ir.op.Structured;
import io.partita.ir.propagate.LayoutInference;
import java.util.ArrayDeque;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * A sync of a sum, with the values that lead to the sum. Each of them is a product of which each
 * device has a term; or a value that all devices have and one of them was to add, such as a bias or
 * the skip connection; or it is computed from such values.
 *
 * @param sync the node
 * @param axes the axes along which it joins
 * @param parts the kind of the sum and of all partial values that lead to it
 */
record DroppedSync(Node sync, int block, List<String> axes, Map<Value, Part> parts) {
  /** The kind of a partial value. */
  enum Part {
    /** Each device has a term. */
    TERM,
    /** Each device has a term, and one of them added a bias to its own. */
    BIASED_TERM,
    /** All devices had the value before one of them kept it. */
    WHOLE,
    /** Computed from others. */
    COMPOUND
  }

  /**
   * @throws PartitaException with {@link SyncCode#DROP} if the kind of a value is unknown
   */
  static DroppedSync of(Node sync, int block, LayoutInference layouts) {
    Value sum = sync.operand(0);
    List<String> axes = List.copyOf(layouts.layout(sum).partial().keySet());
    DroppedSync dropped = new DroppedSync(sync, block, axes, new IdentityHashMap<>());
    Set<Value> seen = Collections.newSetFromMap(new IdentityHashMap<>());
    ArrayDeque<Value> open = new ArrayDeque<>(List.of(sum));
    while (!open.isEmpty()) {
      Value value = open.removeFirst();
      if (seen.add(value) && !layouts.layout(value).partial().isEmpty()) {
        Part part = dropped.part(value, layouts);
        dropped.parts.put(value, part);
        if (part == Part.BIASED_TERM) {
          open.add(bias(value.definition()));
        } else if (part == Part.COMPOUND) {
          open.addAll(value.definition().operands());
        }
      }
    }
    if (dropped.parts.values().stream().allMatch(part -> part == Part.WHOLE)) {
      throw dropped.refused("a sum with a term on each device", "one without");
    }
    return dropped;
  }

  private Part part(Value value, LayoutInference layouts) {
    Node node = value.definition();
    if (node == null) {
      return Part.TERM;
    } else if (node.op() instanceof Communication.Relayout) {
      if (!isWhole(layouts.layout(node.operand(0)), layouts.layout(value))) {
        throw refused("a sum of terms that devices compute", "a change of its layout: " + node);
      }
      return Part.WHOLE;
    } else if (node.op() instanceof Communication.Variation) {
      throw refused("a sum that doesn't depend on a dropped sync", "" + node);
    } else if (layouts.nodes().get(node).splits().reductions().isEmpty()) {
      return Part.COMPOUND;
    }
    List<Value> partial =
        node.operands().stream()
            .filter(operand -> !layouts.layout(operand).partial().isEmpty())
            .toList();
    if (partial.isEmpty()) {
      return Part.TERM;
    } else if (partial.equals(List.of(node.operands().getLast())) && withoutBias(node) != null) {
      return Part.BIASED_TERM;
    }
    throw refused("products with at most a bias as a second partial operand", node.toString());
  }

  /** Whether all devices that hold any of a partial value had the whole before. */
  static boolean isWhole(Layout before, Layout partial) {
    return before.isJoined()
        && before.splits().stream().allMatch(Split::isNone)
        && before.at().equals(partial.at());
  }

  /** Returns the bias of a product, its last operand, if it has one. */
  static Value bias(Node product) {
    return product.operands().getLast();
  }

  /** Returns a product without its bias, or null if it has none. */
  static Op withoutBias(Node product) {
    return switch (product.op()) {
      case Structured.Linear(boolean transposed, boolean bias) when bias ->
          new Structured.Linear(transposed, false);
      case Structured.Ffn f when f.downBias() ->
          new Structured.Ffn(f.activation(), f.gated(), f.gateBias(), f.upBias(), false);
      default -> null;
    };
  }

  PartitaException refused(String expected, String found) {
    return SyncCode.DROP.at("block " + block + ", " + sync, expected, found, "exclude the block");
  }
}
