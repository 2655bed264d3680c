package io.partita.passes.mesh.sync;

import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.mesh.Layout;
import io.partita.ir.op.BinaryFunction;
import io.partita.ir.op.Communication;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.Structured;
import io.partita.ir.propagate.LayoutInference;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;

/**
 * A sync of a sum, taken apart: what each device has a term of, and what is whole on every device
 * and was made a term on one of them, such as the skip connection and a bias.
 *
 * @param sync the node
 * @param axes along which it joins
 * @param terms partial values; of a linear that has a bias, without the bias
 * @param wholes values that all devices have
 */
record DroppedSync(Node sync, int block, List<String> axes, List<Value> terms, List<Value> wholes) {
  /**
   * @throws io.partita.ir.diagnostic.PartitaException with {@link SyncCode#DROP} where the sum
   *     can't be taken apart
   */
  static DroppedSync of(Node sync, int block, LayoutInference layouts) {
    Value sum = sync.operand(0);
    Layout from = layouts.layout(sum);
    DroppedSync dropped =
        new DroppedSync(
            sync,
            block,
            List.copyOf(from.partial().keySet()),
            new ArrayList<>(),
            new ArrayList<>());
    ArrayDeque<Value> open = new ArrayDeque<>(List.of(sum));
    while (!open.isEmpty()) {
      Value value = open.removeFirst();
      if (isAddition(value.definition())) {
        open.addFirst(value.definition().operand(1));
        open.addFirst(value.definition().operand(0));
      } else if (isWhole(value, layouts)) {
        dropped.wholes.add(value.definition().operand(0));
      } else {
        Value bias = bias(value.definition());
        if (bias != null && isWhole(bias, layouts)) {
          dropped.wholes.add(bias.definition().operand(0));
        } else {
          dropped.requireTerm(value, layouts);
        }
        dropped.terms.add(value);
      }
    }
    if (dropped.terms.isEmpty()) {
      throw dropped.refused("a sum of which each device has a term", "one without");
    }
    return dropped;
  }

  private static boolean isAddition(Node node) {
    return node != null
        && node.op() instanceof Elementwise.Binary(BinaryFunction function)
        && function == BinaryFunction.ADD;
  }

  /** Whether a partial value was made of one that all devices have. */
  private static boolean isWhole(Value value, LayoutInference layouts) {
    return value.definition() != null
        && value.definition().op() instanceof Communication.Reshard
        && layouts.layout(value.definition().operand(0)).isReplicated();
  }

  /** Of a linear with a bias, the bias; else null. */
  static Value bias(Node node) {
    return node != null && node.op() instanceof Structured.Linear linear && linear.bias()
        ? node.operand(2)
        : null;
  }

  /** That nothing in a term is on one device only: there it would be in one version only. */
  private void requireTerm(Value term, LayoutInference layouts) {
    ArrayDeque<Value> open = new ArrayDeque<>(List.of(term));
    while (!open.isEmpty()) {
      Value value = open.removeFirst();
      if (layouts.layout(value).partial().isEmpty()) {
        continue;
      } else if (isWhole(value, layouts)) {
        throw refused("a sum of products of each device's own", "a term of one device: " + value);
      } else if (value.definition() != null) {
        open.addAll(value.definition().operands());
      }
    }
  }

  PartitaException refused(String expected, String found) {
    return SyncCode.DROP.at("block " + block + ", " + sync, expected, found, "leave the block out");
  }
}
