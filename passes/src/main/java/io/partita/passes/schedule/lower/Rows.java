package io.partita.passes.schedule.lower;

import io.partita.ir.schedule.BoxDimension;
import io.partita.ir.schedule.Direction;
import io.partita.ir.schedule.TileExpression;
import java.util.ArrayList;
import java.util.List;

/** Tensors of one shape that a loop walks through row by row, rows being along the last axis. */
final class Rows {
  private final List<TensorView> views;
  private final Walk walk;
  private final long size;

  private Rows(List<TensorView> views, Walk walk, long size) {
    this.views = views;
    this.walk = walk;
    this.size = size;
  }

  static Rows of(List<TensorView> views) {
    List<Long> shape = views.getFirst().shape();
    List<TensorView> starts = new ArrayList<>();
    for (TensorView view : views) {
      int outer = view.shape().size() - 1;
      starts.add(
          new TensorView(
              view.element(), view.shape().subList(0, outer), view.strides().subList(0, outer)));
    }
    Walk walk = Walk.of(shape.subList(0, shape.size() - 1), starts);
    return new Rows(views, walk, shape.getLast());
  }

  List<TileSpace.Axis> axes() {
    return walk.axes();
  }

  /** Rows of a tile. */
  TileExpression count() {
    return walk.count();
  }

  /** Elements of a row. */
  long size() {
    return size;
  }

  TileSpace.Operand operand(String name, int view, int value, Direction direction) {
    List<BoxDimension> box = walk.outerBox(view);
    box.add(BoxDimension.whole(size, 1));
    return new TileSpace.Operand(name, value, views.get(view).element(), direction, box);
  }
}
