package io.partita.passes.raise.attention;

import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Structured;
import io.partita.ir.type.Dim;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import io.partita.passes.raise.Parameters;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** The operands of an attention, all of rank 4, and the operation that takes them. */
record AttentionOperands(Structured.Attention attention, List<Value> values) {
  /** None when the shapes don't fit an attention. */
  static Optional<AttentionOperands> of(Scores scores, Value values, GraphEditor graph) {
    Value q = scores.queries();
    Value k = scores.keys();
    if (!fits(q.type().shape(), k.type().shape(), values.type().shape())
        || q.type().element() != values.type().element()) {
      return Optional.empty();
    }
    Shape leading = leading(scores, graph);
    Shape kvLeading = kvLeading(k.type().shape(), leading);
    List<Value> operands = new ArrayList<>();
    operands.add(apart(q, leading, graph));
    operands.add(
        graph.add(new Movement.Transpose(List.of(0, 1, 3, 2)), apart(k, kvLeading, graph)));
    operands.add(apart(values, kvLeading, graph));
    Optional<Value> mask = mask(scores.masks(), leading, q.type().element(), graph);
    boolean isMasked = !scores.masks().isEmpty();
    if (isMasked && mask.isEmpty()) {
      return Optional.empty();
    }
    mask.ifPresent(operands::add);
    return Optional.of(
        new AttentionOperands(
            new Structured.Attention(
                scores.scale(), scores.softCap(), false, Dim.ZERO, 0, isMasked, false),
            operands));
  }

  /** Batches of {@code [seq, d]}, {@code [d, keys]} and {@code [keys, d]}, as many of each. */
  private static boolean fits(Shape q, Shape k, Shape v) {
    return (q.rank() == 3 || q.rank() == 4)
        && k.rank() == q.rank()
        && v.rank() == q.rank()
        && k.dim(0).equals(q.dim(0))
        && k.range(0, k.rank() - 2).equals(v.range(0, v.rank() - 2))
        && (q.rank() == 3
            || q.dim(1).dividedExactlyBy(k.dim(1)) != null
                && (k.dim(1).is(1) || k.dim(1).equals(q.dim(1))));
  }

  /** Batch and heads: as the scores show them, or the queries' definition, or all as heads. */
  private static Shape leading(Scores scores, GraphEditor graph) {
    Shape shape = scores.queries().type().shape();
    if (shape.rank() == 4) {
      return shape.range(0, 2);
    }
    if (scores.leading() != null && scores.leading().size().equals(shape.dim(0))) {
      return scores.leading();
    }
    Node node = graph.definition(scores.queries()).orElse(null);
    if (node != null && node.op() instanceof Movement.Reshape) {
      Shape from = graph.operand(node, 0).type().shape();
      if (from.rank() == 4 && from.range(2, 4).equals(shape.range(1, 3))) {
        return from.range(0, 2);
      }
    }
    return Shape.of(Dim.ONE, shape.dim(0));
  }

  private static Shape kvLeading(Shape keys, Shape leading) {
    return keys.rank() == 4 ? keys.range(0, 2) : leading;
  }

  private static Value apart(Value value, Shape leading, GraphEditor graph) {
    Shape shape = value.type().shape();
    return Parameters.reshaped(
        value, leading.concat(shape.range(shape.rank() - 2, shape.rank())), graph);
  }

  private static Optional<Value> mask(
      List<MaskTerm> terms, Shape leading, ElementType element, GraphEditor graph) {
    Optional<Value> mask = Optional.empty();
    for (MaskTerm term : terms) {
      Optional<Value> next = term.toMask(leading, element, graph);
      if (next.isEmpty()) {
        return next;
      }
      mask = mask.isEmpty() ? next : MaskTerm.both(mask.get(), next.get(), element, graph);
      if (mask.isEmpty()) {
        return mask;
      }
    }
    return mask;
  }
}
