package io.partita.passes.schedule.lower;

import io.partita.ir.schedule.BoxDimension;
import io.partita.ir.schedule.kernel.TileExpression;
import java.util.ArrayList;
import java.util.List;

/** Computes the parts of tensors that broadcast to a tile of the result. */
final class Broadcasts {
  private Broadcasts() {}

  /**
   * Returns a box with one dimension for each in which the tensor doesn't broadcast; the last one
   * is contiguous.
   *
   * @param result the part of the result, with one dimension for each of its dimensions
   */
  static List<BoxDimension> box(TensorView view, List<BoxDimension> result) {
    List<BoxDimension> box = new ArrayList<>();
    int before = result.size() - view.shape().size();
    for (int dimension = 0; dimension < view.shape().size(); dimension++) {
      if (view.shape().get(dimension) > 1) {
        BoxDimension over = result.get(before + dimension);
        long stride = view.strides().get(dimension);
        box.add(new BoxDimension(over.start(), over.size(), over.extent(), stride));
      }
    }
    if (box.isEmpty() || box.getLast().stride() != 1) {
      box.add(BoxDimension.whole(1, 1));
    }
    return box;
  }

  /**
   * Returns the strides in the tile of the tensor for each dimension of the result; 0 if it
   * broadcasts.
   */
  static List<TileExpression> strides(TensorView view, List<BoxDimension> result) {
    List<TileExpression> strides = new ArrayList<>();
    TileExpression inner = TileExpression.of(1);
    for (int fromEnd = 1; fromEnd <= result.size(); fromEnd++) {
      int dimension = view.shape().size() - fromEnd;
      if (dimension < 0 || view.shape().get(dimension) == 1) {
        strides.addFirst(TileExpression.of(0));
      } else {
        strides.addFirst(inner);
        inner = inner.times(result.get(result.size() - fromEnd).size());
      }
    }
    return strides;
  }
}
