package io.partita.passes.schedule.lower;

import static io.partita.ir.schedule.kernel.Argument.integer;
import static io.partita.ir.schedule.kernel.Argument.integers;
import static io.partita.ir.schedule.kernel.Argument.pointer;

import io.partita.ir.op.Reduction;
import io.partita.ir.schedule.BoxDimension;
import io.partita.ir.schedule.kernel.Argument;
import io.partita.ir.schedule.kernel.KernelTable;
import io.partita.ir.schedule.kernel.TileExpression;
import io.partita.ir.type.ElementType;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** {@code reduction.h} and {@code softmax.h}: whole lines. */
final class ReductionLowering {
  /** The number of adjacent lines in a tile. */
  private static final long NEIGHBOURS = 8;

  private ReductionLowering() {}

  static Optional<TileSpace> lower(
      Reduction op, List<TensorView> operands, List<TensorView> results) {
    TensorView x = operands.getFirst();
    String kernel = kernel(op, x.element());
    if (!KernelTable.has(kernel)) {
      return Optional.empty();
    }
    return switch (op) {
      case Reduction.Reduce reduce ->
          x.shape().size() <= TileGrid.KERNEL_AXES
              ? Optional.of(reduce(reduce, kernel, x, results.getFirst()))
              : Optional.empty();
      case Reduction.Softmax(int axis, boolean logarithm) ->
          Optional.of(softmax(kernel, axis, x, results));
      case Reduction.ArgReduce reduce ->
          Optional.of(argReduce(reduce, kernel, x, results.getFirst()));
      case Reduction.TopK topK -> Optional.of(topK(topK, kernel, x, results));
      case Reduction.Cumulative cumulative ->
          Optional.of(cumulative(cumulative, kernel, x, results.getFirst()));
    };
  }

  private static String kernel(Reduction op, ElementType element) {
    String function =
        switch (op) {
          case Reduction.Softmax(int axis, boolean logarithm) ->
              logarithm ? "log_softmax" : "softmax";
          case Reduction.TopK topK -> "top_k";
          case Reduction.Reduce reduce -> reduce.mnemonic();
          case Reduction.ArgReduce reduce -> reduce.mnemonic();
          case Reduction.Cumulative cumulative -> cumulative.mnemonic();
        };
    return function + "_" + element;
  }

  private static TileSpace softmax(
      String kernel, int axis, TensorView x, List<TensorView> results) {
    Lines lines = new Lines(kernel, axis, x, results.getFirst());
    int in = lines.load(x);
    int out = lines.store("out", 1, results.getFirst(), x.shape().get(axis));
    lines.call(pointer("x", in), pointer("out", out));
    return lines.space.build();
  }

  private static TileSpace argReduce(
      Reduction.ArgReduce op, String kernel, TensorView x, TensorView result) {
    TensorView out = op.keepDims() ? result : inserted(result, op.axis());
    Lines lines = new Lines(kernel, op.axis(), x, out);
    int in = lines.load(x);
    int place = lines.store("out", 1, out, 1);
    lines.call(
        pointer("x", in), pointer("out", place), integer("select_last", op.selectLast() ? 1 : 0));
    return lines.space.build();
  }

  private static TileSpace topK(
      Reduction.TopK op, String kernel, TensorView x, List<TensorView> results) {
    Lines lines = new Lines(kernel, op.axis(), x, results.get(0), results.get(1));
    int in = lines.load(x);
    int values = lines.store("values", 1, results.get(0), op.k().value());
    int indices = lines.store("indices", 2, results.get(1), op.k().value());
    lines.call(
        pointer("x", in),
        pointer("values", values),
        pointer("indices", indices),
        integer("k", op.k().value()),
        integer("largest", op.largest() ? 1 : 0));
    return lines.space.build();
  }

  private static TileSpace cumulative(
      Reduction.Cumulative op, String kernel, TensorView x, TensorView result) {
    Lines lines = new Lines(kernel, op.axis(), x, result);
    int in = lines.load(x);
    int out = lines.store("out", 1, result, x.shape().get(op.axis()));
    lines.call(
        pointer("x", in),
        pointer("out", out),
        integer("exclusive", op.exclusive() ? 1 : 0),
        integer("reverse", op.reverse() ? 1 : 0));
    return lines.space.build();
  }

  private static TensorView inserted(TensorView view, int axis) {
    List<Long> shape = new ArrayList<>(view.shape());
    List<Long> strides = new ArrayList<>(view.strides());
    shape.add(axis, 1L);
    strides.add(axis, 1L);
    return new TensorView(view.element(), shape, strides);
  }

  /** Lines along one axis: {@code [outer, extent, inner]}, whose extent isn't tiled. */
  private static final class Lines {
    private final TileSpaceBuilder space;
    private final String kernel;
    private final TensorView x;
    private final int axis;
    private final TileGrid outer;
    private final TileGrid inner;
    private final List<Integer> outerAxes;
    private final List<Integer> innerAxes;
    private int tensors;

    Lines(String kernel, int axis, TensorView x, TensorView... results) {
      this.kernel = kernel;
      this.axis = axis;
      this.x = x;
      space = new TileSpaceBuilder(kernel);
      List<TensorView> all = new ArrayList<>(List.of(results));
      all.addFirst(x);
      int rank = x.shape().size();
      outer = part(all, 0, axis);
      inner = part(all, axis + 1, rank);
      outerAxes = outer.axes(space, "outer", 1, outer.rank());
      innerAxes = inner.axes(space, "inner", NEIGHBOURS, inner.rank());
    }

    private static TileGrid part(List<TensorView> all, int from, int to) {
      return TileGrid.of(
          all.getFirst().shape().subList(from, to),
          all.stream().map(each -> each.strides().subList(from, to)).toList(),
          List.of());
    }

    int load(TensorView view) {
      return space.load("x", 0, view.element(), box(view, view.shape().get(axis)));
    }

    int store(String name, int value, TensorView view, long extent) {
      return space.store(name, value, view.element(), box(view, extent));
    }

    private List<BoxDimension> box(TensorView view, long extent) {
      int tensor = tensors++;
      List<BoxDimension> box = new ArrayList<>();
      add(box, outer, tensor, outerAxes);
      if (extent > 1) {
        box.add(BoxDimension.whole(extent, view.strides().get(axis)));
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

    void call(Argument... arguments) {
      List<Argument> all = new ArrayList<>(List.of(arguments));
      all.add(integer("outer", TileGrid.elements(outerAxes)));
      all.add(integer("extent", x.shape().get(axis)));
      all.add(integer("inner", TileGrid.elements(innerAxes)));
      space.call(kernel, all);
    }
  }

  private static TileSpace reduce(
      Reduction.Reduce op, String kernel, TensorView x, TensorView result) {
    TileSpaceBuilder space = new TileSpaceBuilder(kernel);
    TensorView out = result;
    if (!op.keepDims()) {
      for (int axis : op.axes()) {
        out = inserted(out, axis);
      }
    }
    int rank = x.shape().size();
    List<Integer> apart = new ArrayList<>();
    List<Long> outStrides = new ArrayList<>();
    for (int i = 0; i < rank; i++) {
      boolean isJoined = op.axes().contains(i);
      outStrides.add(isJoined ? 0 : out.strides().get(i));
      if (i > 0 && isJoined != op.axes().contains(i - 1)) {
        apart.add(i);
      }
    }
    TileGrid grid = TileGrid.of(x.shape(), List.of(x.strides(), outStrides), apart);
    return reduce(op, kernel, space, grid, x, out);
  }

  private static TileSpace reduce(
      Reduction.Reduce op,
      String kernel,
      TileSpaceBuilder space,
      TileGrid grid,
      TensorView x,
      TensorView out) {
    List<BoxDimension> xBox = new ArrayList<>();
    List<BoxDimension> outBox = new ArrayList<>();
    List<TileExpression> sizes = new ArrayList<>();
    for (int i = 0; i < grid.rank(); i++) {
      long extent = grid.extents().get(i);
      long stride = grid.strides().get(0).get(i);
      if (op.axes().contains(grid.source().get(i))) {
        xBox.add(BoxDimension.whole(extent, stride));
        sizes.add(TileExpression.of(extent));
      } else {
        int axis = space.axis("i" + i, extent, i == grid.rank() - 1 ? NEIGHBOURS : 1);
        xBox.add(BoxDimension.along(axis, extent, stride));
        outBox.add(BoxDimension.along(axis, extent, grid.strides().get(1).get(i)));
        sizes.add(TileExpression.size(axis));
      }
    }
    List<List<TileExpression>> kept = List.of(new ArrayList<>(), new ArrayList<>());
    List<List<TileExpression>> joined = List.of(new ArrayList<>(), new ArrayList<>());
    TileExpression next = TileExpression.of(1);
    for (int i = grid.rank() - 1; i >= 0; i--) {
      boolean isJoined = op.axes().contains(grid.source().get(i));
      (isJoined ? joined : kept).get(0).addFirst(sizes.get(i));
      (isJoined ? joined : kept).get(1).addFirst(next);
      next = next.times(sizes.get(i));
    }
    int in = space.load("x", 0, x.element(), TileGrid.closed(xBox));
    int result = space.store("out", 1, out.element(), TileGrid.closed(outBox));
    space.call(
        kernel,
        List.of(
            pointer("x", in),
            pointer("out", result),
            integers("extents", TileGrid.six(kept.get(0), 1)),
            integers("strides", TileGrid.six(kept.get(1), 0)),
            integers("joined_extents", TileGrid.six(joined.get(0), 1)),
            integers("joined_strides", TileGrid.six(joined.get(1), 0))));
    return space.build();
  }
}
