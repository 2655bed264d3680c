package io.partita.passes.graph.state;

import io.partita.ir.graph.Graph;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Op;
import io.partita.ir.op.Quantized;
import io.partita.ir.op.Source;
import io.partita.ir.op.Structured;
import io.partita.ir.type.Dim;
import io.partita.ir.type.Shape;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;

/**
 * Verifies that values of the length of the past may have the length of the capacity: each cached
 * token is computed by itself, and only attentions, which attend to valid tokens only, use them.
 */
final class OpenValues {
  /** Marks a result without a token axis. */
  private static final int READ = -1;

  private final String past;
  private final Map<Value, Integer> axes = new IdentityHashMap<>();

  private OpenValues(String past) {
    this.past = past;
  }

  static void verify(Graph graph, String past, CapacityValues others) {
    OpenValues values = new OpenValues(past);
    Map<Value, List<Node>> readers = graph.readers();
    for (Value input : graph.inputs()) {
      boolean isCache =
          others.contains(input)
              || readers.getOrDefault(input, List.of()).stream()
                  .allMatch(node -> node.op() instanceof Structured.CacheUpdate);
      if (values.isOpen(input) && !isCache) {
        throw KvStatePass.noCache(
            "input \"" + input.name() + "\"",
            "uses only in attention masks",
            "its length " + input.type() + " depends on the past");
      }
    }
    graph.nodes().forEach(node -> values.verify(node, others));
  }

  private boolean isOpen(Value value) {
    return value.type().shape().dims().stream().anyMatch(this::isOpen);
  }

  private boolean isOpen(Dim dim) {
    return dim.symbols().contains(past);
  }

  private void verify(Node node, CapacityValues others) {
    boolean isOpen =
        node.operands().stream().anyMatch(this::isOpen)
            || node.results().stream().anyMatch(this::isOpen)
            || node.op() instanceof Source.Extent(Dim size) && isOpen(size)
            || node.op() instanceof Movement.Slice slice
                && slice.starts().stream().anyMatch(this::isOpen)
            || node.op() instanceof Structured.Attention attention && isOpen(attention.offset());
    if (!isOpen) {
      return;
    }
    OptionalInt axis = axis(node, others);
    boolean isRight =
        axis.isPresent()
            && (axis.getAsInt() == READ || isOpen(node.result().type().dim(axis.getAsInt())));
    if (!isRight) {
      throw KvStatePass.noCache(
          "node \"" + node.name() + "\" (" + node.op().mnemonic() + ")",
          "a length of the past only in caches, masks and positions",
          node.results().getFirst().type().toString());
    }
    if (axis.getAsInt() != READ) {
      axes.put(node.result(), axis.getAsInt());
    }
  }

  /** Returns the axis of cached tokens in the result; empty if it mixes or counts tokens. */
  private OptionalInt axis(Node node, CapacityValues others) {
    return switch (node.op()) {
      case Structured.CacheUpdate(int axis, boolean circular) when node.operand(0).isInput() ->
          OptionalInt.of(axis);
      case Structured.Attention attention -> attention(node, attention, others);
      case Movement.Transpose(var permutation) when axes.containsKey(node.operand(0)) ->
          OptionalInt.of(permutation.indexOf(axes.get(node.operand(0))));
      case Movement.Reshape(Shape to) when axes.containsKey(node.operand(0)) ->
          TokenAxis.afterReshape(node.operand(0).type().shape(), axes.get(node.operand(0)), to);
      case Movement.Slice slice when axes.containsKey(node.operand(0)) ->
          slice(node, slice, axes.get(node.operand(0)));
      case Movement.Broadcast(Shape to) when axes.containsKey(node.operand(0)) ->
          OptionalInt.of(axes.get(node.operand(0)) + to.rank() - node.operand(0).type().rank());
      case Elementwise elementwise -> aligned(node);
      case Quantized.Dequantize dequantize when !isOpen(node.operand(1)) -> aligned(node);
      case Structured.Linear linear -> before(node, node.operand(0).type().rank() - 1);
      case Structured.Norm norm -> before(node, norm.axis());
      case Op other -> OptionalInt.empty();
    };
  }

  private OptionalInt attention(Node node, Structured.Attention attention, CapacityValues others) {
    boolean isCached =
        attention.keyLength()
            && !isOpen(node.operand(0))
            && List.of(1, 2).stream()
                .allMatch(i -> Integer.valueOf(2).equals(axes.get(node.operand(i))))
            && (!attention.mask() || !isOpen(node.operand(3)) || others.contains(node.operand(3)));
    return isCached ? OptionalInt.of(READ) : OptionalInt.empty();
  }

  private OptionalInt slice(Node node, Movement.Slice slice, int axis) {
    boolean isWhole =
        slice.starts().get(axis).is(0)
            && slice.sizes().get(axis).equals(node.operand(0).type().dim(axis))
            && slice.steps().get(axis) == 1;
    return isWhole ? OptionalInt.of(axis) : OptionalInt.empty();
  }

  /** Returns the axis of the result that holds the tokens of all open operands. */
  private OptionalInt aligned(Node node) {
    int rank = node.result().type().rank();
    OptionalInt axis = OptionalInt.empty();
    for (Value operand : node.operands()) {
      if (isOpen(operand)) {
        Integer own = axes.get(operand);
        if (own == null
            || axis.isPresent() && axis.getAsInt() != own + rank - operand.type().rank()) {
          return OptionalInt.empty();
        }
        axis = OptionalInt.of(own + rank - operand.type().rank());
      }
    }
    return axis;
  }

  private OptionalInt before(Node node, int end) {
    Integer own = axes.get(node.operand(0));
    return own != null && own < end ? OptionalInt.of(own) : OptionalInt.empty();
  }
}
