package io.partita.frontend.onnx.selection;

import io.partita.ir.graph.Value;
import io.partita.ir.type.Dim;
import io.partita.ir.type.Shape;

/**
 * A NonZero. The number of elements that it finds is unknown at compile time, so its result has the
 * extent {@code count}, a symbol that {@link SelectedRows} removes.
 *
 * @param count the symbol of the number of elements
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
