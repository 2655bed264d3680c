package io.partita.passes.graph.raise.attention;

import io.partita.ir.graph.Value;
import io.partita.ir.type.Shape;
import java.util.List;

/**
 * What the operand of a softmax was found to be: {@code cap tanh(scale q kᵀ / cap)} plus masks.
 *
 * @param queries {@code […, seq, d]}
 * @param keys already transposed: {@code […, d, keys]}
 * @param softCap 0 when there is none
 * @param rows what the product is scaled by besides
 * @param leading batch and heads, where the scores are seen with both; else null
 */
record Scores(
    Value queries,
    Value keys,
    double scale,
    double softCap,
    List<MaskTerm> masks,
    List<RowScale> rows,
    Shape leading) {
  Scores with(List<MaskTerm> others) {
    return new Scores(queries, keys, scale, softCap, others, rows, leading);
  }
}
