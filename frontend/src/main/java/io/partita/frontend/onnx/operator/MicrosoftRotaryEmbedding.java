package io.partita.frontend.onnx.operator;

import static io.partita.frontend.onnx.operator.AttentionValues.mergeHeads;
import static io.partita.frontend.onnx.operator.AttentionValues.splitHeads;

import io.partita.frontend.onnx.NodeScope;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Structured;
import io.partita.ir.type.Dim;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;

/** RotaryEmbedding of com.microsoft. */
final class MicrosoftRotaryEmbedding {
  private MicrosoftRotaryEmbedding() {}

  static void register(OperatorRegistry registry) {
    registry.add(
        OperatorRegistry.MICROSOFT, "RotaryEmbedding", 1, MicrosoftRotaryEmbedding::convert);
  }

  private static void convert(NodeScope node) {
    Arithmetic of = new Arithmetic(node);
    Value x = node.input(0);
    if (node.flag("is_packed_batching", false)) {
      throw node.unsupported(
          "RotaryEmbedding on packed batches", "export with one sequence per batch element");
    }
    boolean merged = x.type().rank() == 3;
    Value split = merged ? splitHeads(node, x, heads(node, x)) : x;
    if (split.type().rank() != 4) {
      throw node.invalid("x of rank 3 or 4", x.type().toString());
    }
    Value positions = of.cast(node.input(1), ElementType.I64);
    if (positions.type().rank() < 2) {
      // One number is the position of the first token.
      Value steps = of.iota(split.type().dim(2), ElementType.I64);
      positions = of.add(positions, steps);
      positions = of.reshape(positions, Shape.of(Dim.ONE, split.type().dim(2)));
    }
    Value rotated = rotate(node, split, positions, 2, node.flag("interleaved", false));
    node.output(0, merged ? mergeHeads(node, rotated) : rotated);
  }

  private static Dim heads(NodeScope node, Value x) {
    long heads = node.integer("num_heads", 0);
    if (heads > 0) {
      return Dim.of(heads);
    }
    Dim size = node.shape(2).dim(1).times(Dim.of(2));
    Dim count = x.type().dim(2).dividedExactlyBy(size);
    if (count == null) {
      throw node.invalid("features that divide into heads of " + size, x.type().toString());
    }
    return count;
  }

  /**
   * Rotates {@code x [batch, heads, seq, d]} by the rows at {@code positions [batch or 1, seq]} of
   * the tables of cosines and sines in operands {@code cosines} and the next.
   */
  static Value rotate(NodeScope node, Value x, Value positions, int cosines, boolean interleaved) {
    Arithmetic of = new Arithmetic(node);
    Value cosine = node.add(new Movement.Gather(0), node.input(cosines), positions);
    Value sine = node.add(new Movement.Gather(0), node.input(cosines + 1), positions);
    ElementType element = x.type().element();
    return node.add(
        new Structured.RotaryEmbedding(interleaved),
        x,
        of.cast(cosine, element),
        of.cast(sine, element));
  }
}
