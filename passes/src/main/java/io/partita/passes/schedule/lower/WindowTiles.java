package io.partita.passes.schedule.lower;

import static io.partita.ir.schedule.kernel.Argument.integer;

import io.partita.ir.op.Window;
import io.partita.ir.schedule.BoxDimension;
import io.partita.ir.schedule.kernel.Argument;
import io.partita.ir.schedule.kernel.TileExpression;
import java.util.List;

/**
 * The data under the window positions of a tile, for one or two spatial dimensions; a single one is
 * treated as the width of two. Data outside of the tensor is padding of the kernel.
 *
 * @param y the axis of rows of positions
 * @param x the axis of positions in a row
 * @param isWhole whether the tile has all data, including data outside of windows
 */
record WindowTiles(
    Window window, TensorView data, TensorView result, int y, int x, boolean isWhole) {
  /** Returns the height, 1 for one dimension. */
  static long places(TensorView result, int fromEnd) {
    int dimension = result.shape().size() - fromEnd;
    return dimension < 2 ? 1 : result.shape().get(dimension);
  }

  /** Returns the last two dimensions of the data. */
  List<BoxDimension> box() {
    return List.of(box(2, y), box(1, x));
  }

  /** Returns the last two dimensions of the result. */
  List<BoxDimension> resultBox() {
    return List.of(
        BoxDimension.along(y, places(result, 2), stride(result, 2)),
        BoxDimension.along(x, places(result, 1), stride(result, 1)));
  }

  private BoxDimension box(int fromEnd, int axis) {
    TileExpression start = start(fromEnd, axis);
    return new BoxDimension(
        start, end(fromEnd, axis).minus(start), extent(fromEnd), stride(data, fromEnd));
  }

  private static long stride(TensorView view, int fromEnd) {
    int dimension = view.shape().size() - fromEnd;
    return dimension < 2 ? view.strides().get(dimension + 1) : view.strides().get(dimension);
  }

  private long extent(int fromEnd) {
    return places(data, fromEnd);
  }

  private static long of(List<Long> values, int fromEnd, long otherwise) {
    return values.size() < fromEnd ? otherwise : values.get(values.size() - fromEnd);
  }

  private long step(int fromEnd) {
    return of(window.strides(), fromEnd, 1);
  }

  private long reach(int fromEnd) {
    return (of(window.kernel(), fromEnd, 1) - 1) * of(window.dilations(), fromEnd, 1) + 1;
  }

  /** Returns the beginning of the first window; negative in padding. */
  private TileExpression first(int fromEnd, int axis) {
    return TileExpression.start(axis).times(step(fromEnd)).minus(low(fromEnd));
  }

  private TileExpression low(int fromEnd) {
    return TileExpression.of(of(window.low(), fromEnd, 0));
  }

  /** Returns the end of the last window. */
  private TileExpression last(int fromEnd, int axis) {
    return TileExpression.start(axis)
        .plus(TileExpression.size(axis))
        .plus(-1)
        .times(step(fromEnd))
        .minus(low(fromEnd))
        .plus(reach(fromEnd));
  }

  /** A window over padding only still loads one element, which it doesn't read. */
  private TileExpression start(int fromEnd, int axis) {
    if (isWhole) {
      return TileExpression.of(0);
    }
    return first(fromEnd, axis)
        .maximum(TileExpression.of(0))
        .minimum(TileExpression.of(extent(fromEnd) - 1));
  }

  private TileExpression end(int fromEnd, int axis) {
    if (isWhole) {
      return TileExpression.of(extent(fromEnd));
    }
    return last(fromEnd, axis)
        .minimum(TileExpression.of(extent(fromEnd)))
        .maximum(TileExpression.of(1));
  }

  /** Returns the fields of the struct of kernels. */
  Argument arguments() {
    return new Argument(
        "window",
        new Argument.Value.Struct(
            List.of(
                integer("height", end(2, y).minus(start(2, y))),
                integer("width", end(1, x).minus(start(1, x))),
                integer("out_height", TileExpression.size(y)),
                integer("out_width", TileExpression.size(x)),
                integer("kernel_y", of(window.kernel(), 2, 1)),
                integer("kernel_x", of(window.kernel(), 1, 1)),
                integer("stride_y", step(2)),
                integer("stride_x", step(1)),
                integer("dilation_y", of(window.dilations(), 2, 1)),
                integer("dilation_x", of(window.dilations(), 1, 1)),
                integer("low_y", start(2, y).minus(first(2, y))),
                integer("low_x", start(1, x).minus(first(1, x))),
                integer("high_y", high(2, y)),
                integer("high_x", high(1, x)))));
  }

  /** Returns the padding under the last window, up to that of the operation. */
  private TileExpression high(int fromEnd, int axis) {
    long padded = extent(fromEnd) + of(window.high(), fromEnd, 0);
    return last(fromEnd, axis)
        .minimum(TileExpression.of(padded))
        .minus(end(fromEnd, axis))
        .maximum(TileExpression.of(0));
  }

  /** Returns the rows of elements under a window. */
  long kernelRows() {
    return of(window.kernel(), 2, 1);
  }

  /** Returns the elements under a window. */
  long kernel() {
    return window.kernel().stream().reduce(1L, Math::multiplyExact);
  }
}
