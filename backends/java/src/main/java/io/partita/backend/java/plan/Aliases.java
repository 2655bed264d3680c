package io.partita.backend.java.plan;

import io.partita.ir.graph.Graph;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Communication;
import io.partita.ir.op.Contraction;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.IntegerNetwork;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Quantized;
import io.partita.ir.op.Reduction;
import io.partita.ir.op.Source;
import io.partita.ir.op.Structured;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;

/** Values with the same elements in the same order as another value, which need no array. */
final class Aliases {
  private final Map<Value, Value> same = new IdentityHashMap<>();

  static Aliases of(Graph graph) {
    Aliases aliases = new Aliases();
    for (Node node : graph.nodes()) {
      if (isAlias(node)) {
        aliases.join(node.result(), node.operand(0));
      }
    }
    return aliases;
  }

  /** Makes {@code value} share the array of {@code in}. */
  void join(Value value, Value in) {
    same.put(root(value), root(in));
  }

  /** Returns the value whose array holds this one's elements. Path halving keeps chains short. */
  Value root(Value value) {
    Value at = value;
    for (Value next = same.get(at); next != null; next = same.get(at)) {
      Value after = same.get(next);
      if (after != null) {
        same.put(at, after);
      }
      at = next;
    }
    return at;
  }

  /** Whether the node moves no element. */
  static boolean isAlias(Node node) {
    return switch (node.op()) {
      case Movement.Reshape reshape -> true;
      case Movement.Broadcast broadcast ->
          node.operand(0).type().shape().elements() == broadcast.to().elements();
      case Movement.Transpose transpose -> keepsOrder(transpose, node.operand(0).type());
      case Movement.Concat concat -> node.operands().size() == 1;
      case Movement.Slice slice ->
          node.operand(0).type().equals(node.result().type())
              && slice.steps().stream().allMatch(step -> step == 1);
      case Movement.Pad pad -> false;
      case Movement.Gather gather -> false;
      case Movement.GatherElements gather -> false;
      case Movement.GatherNd gather -> false;
      case Movement.ScatterElements scatter -> false;
      case Movement.ScatterNd scatter -> false;
      case Contraction contraction -> false;
      case Elementwise elementwise -> false;
      case IntegerNetwork integers -> false;
      // Devices that skip a gate never read its result.
      case Communication.Gate gate -> true;
      case Communication exchange -> false;
      case Quantized quantized -> false;
      case Reduction reduction -> false;
      case Source source -> false;
      case Structured structured -> false;
    };
  }

  /** Whether a transpose moves only extents of 1. */
  private static boolean keepsOrder(Movement.Transpose transpose, TensorType type) {
    Shape shape = type.shape();
    List<Integer> moved =
        transpose.permutation().stream().filter(axis -> shape.extent(axis) != 1).toList();
    return moved.equals(moved.stream().sorted().toList());
  }
}
