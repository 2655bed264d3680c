package io.partita.passes.schedule.lower;

import static io.partita.ir.schedule.kernel.Argument.integer;
import static io.partita.ir.schedule.kernel.Argument.pointer;

import io.partita.ir.schedule.BoxDimension;
import io.partita.ir.schedule.kernel.TileExpression;
import io.partita.ir.type.ElementType;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * {@code gather} of {@code movement.h}: tiles contain the whole indexed axis, and are divided along
 * the others. A single index is read by the control core, and only its element is loaded.
 */
final class GatherLowering {
  private static final long NEIGHBOURS = 8;

  private GatherLowering() {}

  static Optional<TileSpace> lower(int axis, TensorView x, TensorView indices, TensorView out) {
    boolean isIndex = indices.element() == ElementType.I64 || indices.element() == ElementType.I32;
    if (!isIndex || !CopySpace.hasKernel(x.element())) {
      return Optional.empty();
    }
    return Optional.of(
        indices.elements() == 1 ? one(axis, x, indices, out) : many(axis, x, indices, out));
  }

  private static TileSpace many(int axis, TensorView x, TensorView indices, TensorView out) {
    String kernel = "gather_" + x.element().bits() + "_" + indices.element();
    TileSpaceBuilder space = new TileSpaceBuilder(kernel);
    int count = indices.shape().size();
    int rank = x.shape().size();
    Part outer = Part.of(space, "outer", x, 0, out, 0, axis, 1);
    Part inner =
        Part.of(space, "inner", x, axis + 1, out, axis + count, rank - axis - 1, NEIGHBOURS);
    Part middle = Part.of(space, "count", indices, 0, out, axis, count, 1);
    List<BoxDimension> box = new ArrayList<>(outer.box(0));
    box.add(BoxDimension.whole(x.shape().get(axis), x.strides().get(axis)));
    box.addAll(inner.box(0));
    List<BoxDimension> outBox = new ArrayList<>(outer.box(1));
    outBox.addAll(middle.box(1));
    outBox.addAll(inner.box(1));
    int data = space.load("data", 0, x.element(), TileGrid.closed(box));
    int places = space.load("indices", 1, indices.element(), TileGrid.closed(middle.box(0)));
    int result = space.store("out", 2, out.element(), TileGrid.closed(outBox));
    space.call(
        kernel,
        List.of(
            pointer("data", data),
            pointer("indices", places),
            pointer("out", result),
            integer("outer", outer.size()),
            integer("extent", x.shape().get(axis)),
            integer("inner", inner.size()),
            integer("count", middle.size())));
    return space.build();
  }

  private static TileSpace one(int axis, TensorView x, TensorView indices, TensorView out) {
    TileSpaceBuilder space = new TileSpaceBuilder("place_" + x.element().bits());
    CopySpace copy = new CopySpace(space, x.element());
    int count = indices.shape().size();
    int rank = x.shape().size();
    Part outer = Part.of(space, "outer", x, 0, out, 0, axis, 1);
    Part inner =
        Part.of(space, "inner", x, axis + 1, out, axis + count, rank - axis - 1, NEIGHBOURS);
    long extent = x.shape().get(axis);
    boolean isBroadcast = x.strides().get(axis) == 0;
    TileExpression place =
        isBroadcast
            ? TileExpression.of(0)
            : place(space.scalar("index", 1, indices.element()), extent);
    outer.add(copy);
    copy.add(
        CopySpace.Dimension.of(
            new BoxDimension(place, TileExpression.of(1), extent, x.strides().get(axis)),
            BoxDimension.whole(1, 1)));
    inner.add(copy);
    int in = copy.load(0);
    int result = copy.store(2);
    copy.copy(in, result);
    return space.build();
  }

  /** Normalises an index: a negative one counts from the end, and one out of range is clamped. */
  private static TileExpression place(int scalar, long extent) {
    TileExpression index = new TileExpression.Scalar(scalar);
    TileExpression zero = TileExpression.of(0);
    // 1 for an index below 0.
    TileExpression below = zero.minus(index).minimum(TileExpression.of(1)).maximum(zero);
    return index.plus(below.times(extent)).maximum(zero).minimum(TileExpression.of(extent - 1));
  }

  /** Some dimensions of two tensors that are tiled together. */
  private record Part(TileGrid grid, List<Integer> axes) {
    static Part of(
        TileSpaceBuilder space,
        String name,
        TensorView left,
        int leftFrom,
        TensorView right,
        int rightFrom,
        int count,
        long granule) {
      TileGrid grid =
          TileGrid.of(
              left.shape().subList(leftFrom, leftFrom + count),
              List.of(
                  left.strides().subList(leftFrom, leftFrom + count),
                  right.strides().subList(rightFrom, rightFrom + count)),
              List.of());
      return new Part(grid, grid.axes(space, name, granule, grid.rank()));
    }

    List<BoxDimension> box(int tensor) {
      List<BoxDimension> box = new ArrayList<>();
      for (int i = 0; i < grid.rank(); i++) {
        box.add(
            BoxDimension.along(
                axes.get(i), grid.extents().get(i), grid.strides().get(tensor).get(i)));
      }
      return box;
    }

    TileExpression size() {
      return TileGrid.elements(axes);
    }

    void add(CopySpace copy) {
      for (int i = 0; i < grid.rank(); i++) {
        copy.add(CopySpace.Dimension.of(box(0).get(i), box(1).get(i)));
      }
    }
  }
}
