package io.partita.passes.graph.raise.attention;

import io.partita.ir.function.BinaryFunction;
import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Elementwise;
import io.partita.ir.type.Shape;

/**
 * What scores are multiplied with or divided by, the same for all keys of a query.
 *
 * @param applied the shape of the scores there
 */
record RowScale(Value value, BinaryFunction function, Shape applied) {
  /**
   * {@code [batch, heads, seq, d]} scaled so that its scores are; null where the shapes don't fit.
   */
  Value applyTo(Value queries, GraphEditor graph) {
    Shape leading = queries.type().shape().range(0, 2);
    Value factor = Leading.regrouped(value, applied, leading, graph);
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
