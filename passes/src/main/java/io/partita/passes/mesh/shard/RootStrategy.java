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
 * What follows a sum over the devices, up to the next product, on the first of them: the sum is
 * reduced to it, it adds the skip connection and computes the norm, and gives the others the
 * result. The MCU paper's section IV.
 */
final class RootStrategy {
  private final StrategyMesh mesh;
  private final Pins pins;

  RootStrategy(StrategyMesh mesh, Pins pins) {
    this.mesh = mesh;
    this.pins = pins;
  }

  /**
   * @param everywhere the plan in which all devices get each sum
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
