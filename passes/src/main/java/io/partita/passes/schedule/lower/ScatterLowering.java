package io.partita.passes.schedule.lower;

import static io.partita.ir.schedule.kernel.Argument.integer;
import static io.partita.ir.schedule.kernel.Argument.pointer;

import io.partita.ir.op.Movement;
import io.partita.ir.schedule.BoxDimension;
import io.partita.ir.schedule.kernel.Argument;
import io.partita.ir.schedule.kernel.Argument.Value;
import io.partita.ir.schedule.kernel.TileExpression;
import io.partita.ir.type.ElementType;
import io.partita.passes.schedule.legalize.KernelTypes;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * {@code scatter.h}, and the gather of single elements, on what {@link
 * io.partita.passes.schedule.legalize.Legalization} leaves: indices are i64 and have the extents of
 * the data except for one axis, or select whole rows. A tile of a scatter stays in the working
 * memory while updates are streamed.
 */
final class ScatterLowering {
  private static final long NEIGHBOURS = 8;

  private ScatterLowering() {}

  static Optional<TileSpace> gatherElements(
      int axis, TensorView data, TensorView indices, TensorView out) {
    if (indices.element() != ElementType.I64 || !isAligned(axis, data, indices)) {
      return Optional.empty();
    }
    String kernel = "gather_elements_" + data.element().bits();
    Lines lines = new Lines(kernel, axis, axis + 1, data, indices, out);
    int count = lines.space.axis("count", indices.shape().get(axis), 1);
    int source = lines.space.load("data", 0, data.element(), lines.box(0, whole(data, axis)));
    int places =
        lines.space.load("indices", 1, indices.element(), lines.box(1, cut(indices, axis, count)));
    int result = lines.space.store("out", 2, out.element(), lines.box(2, cut(out, axis, count)));
    lines.space.call(
        kernel,
        List.of(
            pointer("data", source),
            pointer("indices", places),
            pointer("out", result),
            integer("outer", lines.outerSize()),
            integer("extent", data.shape().get(axis)),
            integer("inner", lines.innerSize()),
            integer("count", TileExpression.size(count))));
    return Optional.of(lines.space.build());
  }

  static Optional<TileSpace> elements(
      Movement.ScatterElements scatter, List<TensorView> operands, TensorView out) {
    TensorView data = operands.get(0);
    TensorView indices = operands.get(1);
    int axis = scatter.axis();
    if (!KernelTypes.hasScatter(scatter.reduction(), data.element(), indices.element())
        || !isAligned(axis, data, indices)) {
      return Optional.empty();
    }
    Lines lines =
        new Lines(
            KernelTypes.scatter(scatter.reduction(), data.element()),
            axis,
            axis + 1,
            data,
            indices,
            operands.get(2),
            out);
    int rows = lines.space.axis("rows", data.shape().get(axis), 1);
    int count = lines.space.reduction("count", indices.shape().get(axis), 1);
    int places =
        lines.space.load("indices", 1, indices.element(), lines.box(1, cut(indices, axis, count)));
    return Optional.of(
        scatter(
            lines,
            data.element(),
            data.shape().get(axis),
            rows,
            count,
            places,
            List.of(
                lines.box(0, cut(data, axis, rows)),
                lines.box(2, cut(operands.get(2), axis, count)),
                lines.box(3, cut(out, axis, rows))),
            false));
  }

  /**
   * Lowers a scatter of rows: data {@code [rows, inner…]}, indices {@code [count, 1]}, updates
   * {@code [count, inner…]}.
   */
  static Optional<TileSpace> rows(
      Movement.ScatterNd scatter, List<TensorView> operands, TensorView out) {
    TensorView data = operands.get(0);
    TensorView indices = operands.get(1);
    TensorView updates = operands.get(2);
    boolean isRows =
        indices.shape().size() == 2 && indices.shape().get(1) == 1 && !data.shape().isEmpty();
    if (!KernelTypes.hasScatter(scatter.reduction(), data.element(), indices.element())
        || !isRows) {
      return Optional.empty();
    }
    Lines lines =
        new Lines(
            KernelTypes.scatter(scatter.reduction(), data.element()), 0, 1, data, updates, out);
    int rows = lines.space.axis("rows", data.shape().getFirst(), 1);
    int count = lines.space.reduction("count", indices.shape().getFirst(), 1);
    BoxDimension each = cut(indices, 0, count);
    int places = lines.space.load("indices", 1, indices.element(), TileGrid.closed(List.of(each)));
    return Optional.of(
        scatter(
            lines,
            data.element(),
            data.shape().getFirst(),
            rows,
            count,
            places,
            List.of(
                lines.box(0, cut(data, 0, rows)),
                lines.box(1, cut(updates, 0, count)),
                lines.box(2, cut(out, 0, rows))),
            true));
  }

  /**
   * @param boxes the boxes of the data, the updates and the result
   */
  private static TileSpace scatter(
      Lines lines,
      ElementType element,
      long whole,
      int rows,
      int count,
      int places,
      List<List<BoxDimension>> boxes,
      boolean isByRow) {
    int data = lines.space.load("data", 0, element, boxes.get(0));
    int updates = lines.space.load("updates", 2, element, boxes.get(1));
    int out = lines.space.store("out", 3, element, boxes.get(2));
    Value first =
        new Value.PointerWhen(
            TileExpression.first(count), new Value.OperandPointer(data, TileExpression.of(0)));
    lines.space.call(
        lines.kernel,
        List.of(
            new Argument("data", first),
            pointer("indices", places),
            pointer("updates", updates),
            pointer("out", out),
            integer("outer", lines.outerSize()),
            integer("extent", TileExpression.size(rows)),
            integer("inner", lines.innerSize()),
            integer("count", TileExpression.size(count)),
            integer("first", TileExpression.start(rows)),
            integer("whole", whole),
            integer("rows", isByRow ? 1 : 0)));
    return lines.space.build();
  }

  private static boolean isAligned(int axis, TensorView data, TensorView indices) {
    for (int i = 0; i < data.shape().size(); i++) {
      if (i != axis && !data.shape().get(i).equals(indices.shape().get(i))) {
        return false;
      }
    }
    return true;
  }

  private static BoxDimension whole(TensorView view, int axis) {
    return BoxDimension.whole(view.shape().get(axis), view.strides().get(axis));
  }

  private static BoxDimension cut(TensorView view, int axis, int along) {
    return BoxDimension.along(along, view.shape().get(axis), view.strides().get(axis));
  }

  /** Tensors with the same extents before and after one axis. */
  private static final class Lines {
    private final TileSpaceBuilder space;
    private final String kernel;
    private final TileGrid outer;
    private final TileGrid inner;
    private final List<Integer> outerAxes;
    private final List<Integer> innerAxes;

    Lines(String kernel, int before, int behind, TensorView... tensors) {
      this.kernel = kernel;
      this.space = new TileSpaceBuilder(kernel);
      this.outer = part(tensors, 0, before);
      this.inner = part(tensors, behind, tensors[0].shape().size());
      this.outerAxes = outer.axes(space, "outer", 1, outer.rank());
      this.innerAxes = inner.axes(space, "inner", NEIGHBOURS, inner.rank());
    }

    private static TileGrid part(TensorView[] tensors, int from, int to) {
      List<List<Long>> strides = new ArrayList<>();
      for (TensorView each : tensors) {
        strides.add(each.strides().subList(from, to));
      }
      return TileGrid.of(tensors[0].shape().subList(from, to), strides, List.of());
    }

    /** Returns the part of a tensor in a tile, with a given part of the middle axis. */
    List<BoxDimension> box(int tensor, BoxDimension between) {
      List<BoxDimension> box = new ArrayList<>();
      add(box, outer, tensor, outerAxes);
      if (between.extent() > 1) {
        box.add(between);
      }
      add(box, inner, tensor, innerAxes);
      return TileGrid.closed(box);
    }

    private static void add(List<BoxDimension> box, TileGrid grid, int tensor, List<Integer> axes) {
      for (int i = 0; i < grid.rank(); i++) {
        long stride = grid.strides().get(tensor).get(i);
        box.add(BoxDimension.along(axes.get(i), grid.extents().get(i), stride));
      }
    }

    TileExpression outerSize() {
      return TileGrid.elements(outerAxes);
    }

    TileExpression innerSize() {
      return TileGrid.elements(innerAxes);
    }
  }
}
