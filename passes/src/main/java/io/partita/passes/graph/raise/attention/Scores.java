package io.partita.passes.graph.raise.attention;

import io.partita.ir.graph.Value;
import io.partita.ir.type.Shape;
import java.util.List;

/**
 * The matched operand of a softmax: {@code cap tanh(scale q kᵀ / cap)} plus masks.
 *
 * @param queries {@code […, seq, d]}
 * @param keys already transposed: {@code […, d, keys]}
 * @param softCap the soft cap; 0 if there is none
 * @param rows other scales of the product
 * @param leading batch and heads if the shape of scores shows both, else null
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
