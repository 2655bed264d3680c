package io.partita.passes.graph.raise.attention;

import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Structured;
import io.partita.ir.type.Dim;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/** An attention and its operands, all of rank 4. */
record AttentionOperands(Structured.Attention attention, List<Value> values) {
  /**
   * Returns the operands; empty if the shapes don't fit an attention.
   *
   * @param valueScale the scale of values of integers; 0 for floats
   */
  static Optional<AttentionOperands> of(
      Scores scores, Value values, double valueScale, GraphEditor graph) {
    Value q = scores.queries();
    Value k = scores.keys();
    LeadingDimensions leading = leading(scores, values, graph);
    if (leading == null || q.type().element() != values.type().element()) {
      return Optional.empty();
    }
    List<Value> operands = new ArrayList<>();
    Value queries = LeadingDimensions.separate(q, leading.queries(), graph);
    for (RowScale row : scores.rows()) {
      queries = queries == null ? null : row.applyTo(queries, graph);
    }
    if (queries == null) {
      return Optional.empty();
    }
    operands.add(queries);
    operands.add(
        graph.add(
            new Movement.Transpose(List.of(0, 1, 3, 2)),
            LeadingDimensions.separate(k, leading.keys(), graph)));
    operands.add(LeadingDimensions.separate(values, leading.keys(), graph));
    ElementType real = valueScale != 0 ? ElementType.F32 : q.type().element();
    boolean isMasked = scores.masks().stream().anyMatch(term -> !(term instanceof MaskTerm.Floor));
    Optional<Value> mask =
        isMasked ? MaskTerm.join(scores.masks(), leading.queries(), real, graph) : Optional.empty();
    if (isMasked && mask.isEmpty()) {
      return Optional.empty();
    }
    mask.ifPresent(operands::add);
    return Optional.of(
        new AttentionOperands(
            new Structured.Attention(
                scores.scale(), scores.softCap(), false, Dim.ZERO, 0, isMasked, false, valueScale),
            operands));
  }

  /** Adds the attention, with the shape of the product that it replaces. */
  Value attention(Node product, GraphEditor graph) {
    return graph.add(
        new Movement.Reshape(product.result().type().shape()), graph.add(attention, values));
  }

  /**
   * Returns null unless the three are batches of {@code [seq, d]}, {@code [d, keys]} and {@code
   * [keys, d]}.
   */
  private static LeadingDimensions leading(Scores scores, Value values, GraphEditor graph) {
    Shape q = scores.queries().type().shape();
    Shape k = scores.keys().type().shape();
    Shape v = values.type().shape();
    if (q.rank() < 3 || k.rank() != q.rank() || v.rank() < 3) {
      return null;
    }
    Shape queries = q.range(0, q.rank() - 2);
    Shape keys = k.range(0, k.rank() - 2);
    Shape weighed = v.range(0, v.rank() - 2);
    if (v.rank() != q.rank()) {
      // Probabilities may be reshaped before the product with the values.
      boolean isSame = queries.equals(keys) && queries.size().equals(weighed.size());
      Shape apart = v.rank() > q.rank() ? weighed : queries;
      return isSame ? LeadingDimensions.of(apart, apart, scores.leading()) : null;
    }
    if (!keys.equals(weighed)) {
      return null;
    }
    Shape seen =
        Stream.of(
                Optional.ofNullable(scores.leading()),
                Optional.ofNullable(LeadingDimensions.mergedIn(scores.queries(), graph)),
                Optional.ofNullable(LeadingDimensions.mergedIn(values, graph)))
            .flatMap(Optional::stream)
            .findFirst()
            .orElse(null);
    return LeadingDimensions.of(queries, keys, seen);
  }
}
