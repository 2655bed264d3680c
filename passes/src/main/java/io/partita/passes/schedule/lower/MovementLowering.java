package io.partita.passes.schedule.lower;

import static io.partita.ir.schedule.kernel.TileExpression.size;
import static io.partita.ir.schedule.kernel.TileExpression.start;

import io.partita.ir.op.Movement;
import io.partita.ir.schedule.BoxDimension;
import io.partita.ir.schedule.StateLines;
import io.partita.ir.schedule.kernel.TileExpression;
import io.partita.ir.type.ElementType;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Lowers movements that aren't views to {@code copy} of {@code movement.h}. */
final class MovementLowering {
  /** The elements of the part of a core. */
  private static final long PART = 8;

  private MovementLowering() {}

  static Optional<TileSpace> lower(
      Movement op, List<TensorView> operands, List<TensorView> results) {
    TensorView x = operands.getFirst();
    TensorView out = results.getFirst();
    if (!CopySpace.hasKernel(x.element())) {
      return Optional.empty();
    }
    return switch (op) {
      case Movement.Reshape reshape -> reshape(x, out);
      case Movement.Transpose(var permutation) ->
          Optional.of(copy(permutation.stream().map(x.strides()::get).toList(), out));
      case Movement.Broadcast broadcast ->
          Optional.of(copy(TileGrid.broadcast(x, out.shape()), out));
      case Movement.Slice slice -> Optional.of(slice(slice, x, out));
      case Movement.Pad pad ->
          pad.mode() == Movement.PadMode.CONSTANT
              ? Optional.of(pad(pad, x, out))
              : Optional.empty();
      case Movement.Gather(int axis) -> GatherLowering.lower(axis, x, operands.get(1), out);
      case Movement.Concat concat -> Optional.empty();
      case Movement.GatherElements(int axis) ->
          ScatterLowering.gatherElements(axis, x, operands.get(1), out);
      case Movement.GatherNd gather -> Optional.empty();
      case Movement.ScatterElements scatter -> ScatterLowering.elements(scatter, operands, out);
      case Movement.ScatterNd scatter -> ScatterLowering.rows(scatter, operands, out);
    };
  }

  /**
   * @param strides the strides of the operand along the dimensions of the result; 0 if it
   *     broadcasts
   */
  private static TileSpace copy(List<Long> strides, TensorView out) {
    TileGrid grid = TileGrid.of(out.shape(), List.of(strides, out.strides()), List.of());
    TileSpaceBuilder space = new TileSpaceBuilder(CopySpace.kernel(out.element()));
    CopySpace copy = new CopySpace(space, out.element());
    boolean isLine = grid.rank() > 0 && grid.strides().get(0).getLast() == 1;
    List<Integer> axes = grid.axes(space, "i", isLine ? PART : 1, TileGrid.KERNEL_AXES);
    for (int i = 0; i < grid.rank(); i++) {
      long extent = grid.extents().get(i);
      long from = grid.strides().get(0).get(i);
      BoxDimension to = BoxDimension.along(axes.get(i), extent, grid.strides().get(1).get(i));
      copy.add(
          CopySpace.Dimension.of(
              from == 0 ? null : BoxDimension.along(axes.get(i), extent, from), to));
    }
    return build(space, copy, 1);
  }

  private static TileSpace build(TileSpaceBuilder space, CopySpace copy, int result) {
    int in = copy.load(0);
    int place = copy.store(result);
    copy.copy(in, place);
    return space.build();
  }

  /** Returns both with a common refinement of their shapes. */
  private static Optional<TileSpace> reshape(TensorView x, TensorView out) {
    List<Long> extents = new ArrayList<>();
    List<Long> from = new ArrayList<>();
    List<Long> to = new ArrayList<>();
    ElementCursor source = new ElementCursor(x);
    ElementCursor target = new ElementCursor(out);
    while (source.left() > 1 || target.left() > 1) {
      long extent = Math.min(source.left(), target.left());
      if (source.left() % extent != 0 || target.left() % extent != 0) {
        return Optional.empty();
      }
      extents.addFirst(extent);
      from.addFirst(source.take(extent));
      to.addFirst(target.take(extent));
    }
    return Optional.of(copy(from, new TensorView(out.element(), extents, to)));
  }

  /** Reads whole lines even if a step skips elements. */
  private static TileSpace slice(Movement.Slice slice, TensorView x, TensorView out) {
    List<Dimension> dimensions = new ArrayList<>();
    for (int i = 0; i < out.shape().size(); i++) {
      long first = slice.starts().get(i).value();
      long step = slice.steps().get(i);
      dimensions.add(
          (space, axis, extent, stride) -> {
            TileExpression last = size(axis).minus(TileExpression.of(1)).times(Math.abs(step));
            TileExpression low =
                step > 0
                    ? start(axis).times(step).plus(first)
                    : TileExpression.of(first).minus(start(axis).times(-step)).minus(last);
            BoxDimension from = new BoxDimension(low, last.plus(1), extent, stride);
            TileExpression begin = step > 0 ? TileExpression.of(0) : last;
            return new CopySpace.Dimension(
                from, null, size(axis), begin, step, TileExpression.of(0));
          });
    }
    TileSpaceBuilder space = new TileSpaceBuilder("slice_" + out.element().bits());
    return build(space, walk(space, dimensions, x, out), 1);
  }

  /** The mapping of a dimension of the result to one of the operand. */
  private interface Dimension {
    /**
     * @param extent the extent of the operand
     * @param stride the stride of the operand
     * @return a mapping without a part of the result
     */
    CopySpace.Dimension along(TileSpaceBuilder space, int axis, long extent, long stride);
  }

  private static CopySpace walk(
      TileSpaceBuilder space, List<Dimension> dimensions, TensorView x, TensorView out) {
    CopySpace copy = new CopySpace(space, out.element());
    int rank = out.shape().size();
    for (int i = 0; i < rank; i++) {
      long size = out.shape().get(i);
      long largest = i < rank - TileGrid.KERNEL_AXES ? 1 : size;
      int axis = space.axis(new TileSpace.Axis("i" + i, size, 1, largest, false, Optional.empty()));
      CopySpace.Dimension each =
          dimensions.get(i).along(space, axis, x.shape().get(i), x.strides().get(i));
      BoxDimension to = BoxDimension.along(axis, size, out.strides().get(i));
      copy.add(
          new CopySpace.Dimension(
              each.from(), to, each.count(), each.fromFirst(), each.step(), each.toFirst()));
    }
    return copy;
  }

  /** Fills the tile with the value, then copies the operand, which some tiles do not contain. */
  private static TileSpace pad(Movement.Pad pad, TensorView x, TensorView out) {
    List<Dimension> dimensions = new ArrayList<>();
    TileExpression zero = TileExpression.of(0);
    for (int i = 0; i < out.shape().size(); i++) {
      TileExpression low = TileExpression.of(pad.low().get(i));
      dimensions.add(
          (space, axis, extent, stride) -> {
            TileExpression end = start(axis).plus(size(axis)).minus(low);
            TileExpression until = end.minimum(TileExpression.of(extent));
            TileExpression first = start(axis).minus(low).maximum(zero);
            TileExpression inside = first.minimum(TileExpression.of(extent - 1));
            BoxDimension from =
                new BoxDimension(
                    inside, until.minus(inside).maximum(TileExpression.of(1)), extent, stride);
            TileExpression before = low.minus(start(axis)).maximum(zero).minimum(size(axis));
            return new CopySpace.Dimension(
                from, null, until.minus(first).maximum(zero), zero, 1, before);
          });
    }
    TileSpaceBuilder space = new TileSpaceBuilder("pad_" + out.element().bits());
    CopySpace copy = walk(space, dimensions, x, out);
    int in = copy.load(0);
    int value = space.load("value", 1, x.element(), TileGrid.closed(List.of()));
    int result = copy.store(2);
    copy.fill(value, result);
    copy.copy(in, result);
    return space.build();
  }

  /**
   * Writes {@code update} to the result, which already holds the cache, beginning at a position
   * that the control core reads. Only for a batch of one, which has a single position.
   */
  static Optional<TileSpace> cacheUpdate(
      int axis, boolean circular, TensorView update, TensorView position, TensorView out) {
    boolean hasPosition =
        position.element() == ElementType.I64 || position.element() == ElementType.I32;
    if (!CopySpace.hasKernel(out.element()) || out.shape().getFirst() != 1 || !hasPosition) {
      return Optional.empty();
    }
    TileSpaceBuilder space = new TileSpaceBuilder("update_" + out.element().bits());
    CopySpace copy = new CopySpace(space, out.element());
    int scalar = space.scalar("position", 2, position.element());
    long capacity = out.shape().get(axis);
    int rank = out.shape().size();
    for (int i = 0; i < rank; i++) {
      long size = update.shape().get(i);
      boolean isSingle = i == axis && circular || i < rank - TileGrid.KERNEL_AXES;
      int along =
          space.axis(
              new TileSpace.Axis("i" + i, size, 1, isSingle ? 1 : size, false, Optional.empty()));
      TileExpression to = start(along);
      if (i == axis) {
        to = StateLines.first(new TileExpression.Scalar(scalar), to, size, capacity, circular);
      }
      copy.add(
          CopySpace.Dimension.of(
              BoxDimension.along(along, size, update.strides().get(i)),
              new BoxDimension(to, size(along), out.shape().get(i), out.strides().get(i))));
    }
    int in = copy.load(1);
    int result = copy.store(3);
    copy.copy(in, result);
    return Optional.of(space.build());
  }
}
