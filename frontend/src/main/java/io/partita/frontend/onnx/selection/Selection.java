package io.partita.frontend.onnx.selection;

import io.partita.ir.graph.Value;
import io.partita.ir.type.Dim;
import io.partita.ir.type.Shape;

/**
 * One NonZero: how many elements it finds isn't known when compiling, so its result has the extent
 * {@code count}, a symbol, until {@link SelectedRows} replaces all that has it.
 *
 * @param count the symbol of the number of elements found
 * @param mask a boolean tensor
 * @param coordinates the graph input {@code i64[rank, count]} that stands for the result
 */
public record Selection(Dim count, Value mask, Value coordinates) {
  Shape extents() {
    return mask.type().shape();
  }

  int rank() {
    return mask.type().rank();
  }
}
