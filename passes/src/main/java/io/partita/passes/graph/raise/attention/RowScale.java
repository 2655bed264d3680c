package io.partita.passes.graph.raise.attention;

import io.partita.ir.function.BinaryFunction;
import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Elementwise;
import io.partita.ir.type.Shape;

/**
 * A factor or divisor of scores that is the same for all keys of a query.
 *
 * @param applied the shape of the scores at this operation
 */
record RowScale(Value value, BinaryFunction function, Shape applied) {
  /**
   * Scales queries {@code [batch, heads, seq, d]} instead of their scores; null if the shapes don't
   * fit.
   */
  Value applyTo(Value queries, GraphEditor graph) {
    Shape leading = queries.type().shape().range(0, 2);
    Value factor = LeadingDimensions.regrouped(value, applied, leading, graph);
    if (factor == null) {
      return null;
    }
    Value cast =
        factor.type().element() == queries.type().element()
            ? factor
            : graph.add(new Elementwise.Cast(queries.type().element()), factor);
    return graph.add(new Elementwise.Binary(function), queries, cast);
  }
}
