package io.partita.frontend.onnx.operator;

import io.partita.frontend.onnx.NodeScope;
import io.partita.ir.function.BinaryFunction;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Structured;
import io.partita.ir.type.Dim;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Helpers of attention importers for heads, masks, and attention. */
final class AttentionValues {
  private AttentionValues() {}

  /** Transposes {@code [batch, seq, heads d]} to {@code [batch, heads, seq, d]}. */
  static Value splitHeads(NodeScope node, Value x, Dim heads) {
    Shape shape = x.type().shape();
    Dim size = shape.dim(2).dividedExactlyBy(heads);
    if (size == null) {
      throw node.invalid("features that divide into " + heads + " heads", shape.toString());
    }
    Value split =
        new Arithmetic(node).reshape(x, Shape.of(shape.dim(0), shape.dim(1), heads, size));
    return node.add(new Movement.Transpose(List.of(0, 2, 1, 3)), split);
  }

  /** Transposes {@code [batch, heads, seq, d]} to {@code [batch, seq, heads d]}. */
  static Value mergeHeads(NodeScope node, Value x) {
    Shape shape = x.type().shape();
    Value swapped = node.add(new Movement.Transpose(List.of(0, 2, 1, 3)), x);
    return new Arithmetic(node)
        .reshape(swapped, Shape.of(shape.dim(0), shape.dim(2), shape.dim(1).times(shape.dim(3))));
  }

  /** The extents of a mask. */
  record Extents(Dim batch, Dim seq, Dim keys) {}

  /**
   * Returns the additive mask of a com.microsoft mask operand: 0 for visible keys, {@code filter}
   * for others. The operand is a vector of the ends of sequences, or of ends and then starts; a
   * mask {@code [batch, keys]} or {@code [batch, seq, keys]}; or {@code [batch, 1, most, most]},
   * whose last {@code seq} rows up to the number of keys count.
   */
  static Optional<Value> keyMask(
      NodeScope node, int input, Extents extents, ElementType element, double filter) {
    if (!node.has(input)) {
      return Optional.empty();
    }
    Value mask = node.input(input);
    Shape shape = mask.type().shape();
    Value visible =
        switch (shape.rank()) {
          case 1 -> withinBounds(node, mask, extents);
          case 2 -> positive(node, mask, Shape.of(shape.dim(0), Dim.ONE, Dim.ONE, shape.dim(1)));
          case 3 ->
              positive(node, mask, Shape.of(shape.dim(0), Dim.ONE, shape.dim(1), shape.dim(2)));
          case 4 -> {
            Dim first = extents.keys().minus(extents.seq());
            Value rows = new Arithmetic(node).slice(mask, 2, first, extents.seq());
            Value used = new Arithmetic(node).slice(rows, 3, Dim.ZERO, extents.keys());
            yield positive(node, used, used.type().shape());
          }
          default -> throw node.invalid("a mask of rank 1 to 4", mask.type().toString());
        };
    return Optional.of(select(node, visible, element, 0, filter));
  }

  static Value select(
      NodeScope node, Value condition, ElementType element, double then, double otherwise) {
    return node.add(
        new Elementwise.Select(),
        condition,
        node.constant(io.partita.ir.tensor.Tensor.scalar(element, then)),
        node.constant(io.partita.ir.tensor.Tensor.scalar(element, otherwise)));
  }

  private static Value positive(NodeScope node, Value mask, Shape shape) {
    Arithmetic of = new Arithmetic(node);
    Value shaped = of.reshape(mask, shape);
    if (mask.type().element() == ElementType.BOOL) {
      return shaped;
    }
    return of.binary(BinaryFunction.GREATER, shaped, node.scalarLike(mask, 0));
  }

  private static Value withinBounds(NodeScope node, Value bounds, Extents extents) {
    Arithmetic of = new Arithmetic(node);
    Dim batch = extents.batch();
    ElementType element = bounds.type().element();
    Value position = of.iota(extents.keys(), element);
    Shape column = Shape.of(batch, Dim.ONE, Dim.ONE, Dim.ONE);
    Value ends = of.reshape(of.slice(bounds, 0, Dim.ZERO, batch), column);
    Value visible = of.binary(BinaryFunction.LESS, position, ends);
    if (!bounds.type().dim(0).equals(batch.times(Dim.of(2)))) {
      // Of 3 batch + 2 elements, the rest says where packed sequences begin.
      return visible;
    }
    Value starts = of.reshape(of.slice(bounds, 0, batch, batch), column);
    Value begun = of.binary(BinaryFunction.GREATER_OR_EQUAL, position, starts);
    return of.binary(BinaryFunction.AND, visible, begun);
  }

  static Optional<Value> sum(NodeScope node, Optional<Value> left, Optional<Value> right) {
    return left.isPresent() && right.isPresent()
        ? Optional.of(new Arithmetic(node).add(left.get(), right.get()))
        : left.or(() -> right);
  }

  /**
   * Returns the attribute {@code scale}; 0 or none means one over the square root of the head size.
   */
  static double scale(NodeScope node, Value q) {
    double scale = node.number("scale", 0);
    return scale != 0 ? scale : 1 / Math.sqrt(q.type().dim(3).value());
  }

  /**
   * Computes the attention of {@code q}, {@code k}, {@code v} by head, merged to {@code [batch,
   * seq, …]}.
   */
  static Value attend(
      NodeScope node,
      Structured.Attention plain,
      List<Value> qkv,
      Optional<Value> mask,
      Optional<Value> keyLength) {
    Structured.Attention attention =
        new Structured.Attention(
            plain.scale(),
            plain.softCap(),
            plain.causal(),
            plain.offset(),
            plain.window(),
            mask.isPresent(),
            keyLength.isPresent());
    List<Value> operands = new ArrayList<>(qkv);
    mask.ifPresent(
        value ->
            operands.add(new Arithmetic(node).cast(value, maskElement(value, qkv.getFirst()))));
    keyLength.ifPresent(operands::add);
    return mergeHeads(node, node.add(attention, operands));
  }

  private static ElementType maskElement(Value mask, Value q) {
    return mask.type().element() == ElementType.BOOL ? ElementType.BOOL : q.type().element();
  }
}
