package io.partita.passes.mesh.shard;

import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.IntegerNetwork;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Op;
import io.partita.ir.op.Quantized;
import io.partita.ir.op.Structured;
import io.partita.ir.propagate.LayoutPlan;
import io.partita.ir.propagate.ReshardPlace;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Computes everything between a sum over devices and the next product on the first device: the sum
 * is reduced to it, and it adds the skip connection, computes the norm and broadcasts the result.
 * Section IV of the MCU paper.
 */
final class RootStrategy {
  private final StrategyMesh mesh;
  private final Pins pins;

  RootStrategy(StrategyMesh mesh, Pins pins) {
    this.mesh = mesh;
    this.pins = pins;
  }

  /**
   * @param everywhere the plan with all-reduces
   */
  void pin(LayoutPlan everywhere) {
    Set<Value> root = Collections.newSetFromMap(new IdentityHashMap<>());
    for (ReshardPlace place : everywhere.syncs()) {
      boolean isJoined =
          place.isAtDefinition()
              && mesh.tensor().stream().allMatch(axis -> place.change().from().uses(axis))
              && mesh.tensor().stream().noneMatch(axis -> place.change().to().uses(axis));
      if (isJoined && place.value().type().rank() > 0) {
        root.add(place.value());
      }
    }
    root.forEach(value -> pins.place(value, mesh.tensor(), 0));
    for (Node node : everywhere.graph().nodes()) {
      if (staysAtRoot(node) && node.operands().stream().anyMatch(root::contains)) {
        root.addAll(node.results());
      }
    }
    Map<Value, List<Node>> readers = everywhere.graph().readers();
    for (Value value : root) {
      boolean leaves =
          readers.getOrDefault(value, List.of()).stream().anyMatch(node -> !staysAtRoot(node));
      if (leaves) {
        pins.whole(value, mesh.tensor());
      }
    }
  }

  private static boolean staysAtRoot(Node node) {
    return switch (node.op()) {
      case Elementwise elementwise -> true;
      case Quantized quantized -> true;
      case Structured.Norm norm -> true;
      case Movement.Slice slice -> true;
      case IntegerNetwork.IntegerNorm norm -> true;
      case IntegerNetwork.Requantize requantize -> true;
      case Op other -> false;
    };
  }
}
