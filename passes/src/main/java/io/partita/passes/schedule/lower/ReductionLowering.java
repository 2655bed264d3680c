package io.partita.passes.schedule.lower;

import static io.partita.ir.schedule.Argument.integer;
import static io.partita.ir.schedule.Argument.integers;
import static io.partita.ir.schedule.Argument.pointer;

import io.partita.ir.op.Reduction;
import io.partita.ir.schedule.Argument;
import io.partita.ir.schedule.BoxDimension;
import io.partita.ir.schedule.TileExpression;
import io.partita.ir.target.KernelClass;
import io.partita.ir.type.ElementType;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** {@code reduction.h} and {@code softmax.h}: whole lines. */
final class ReductionLowering {
  private static final Set<ElementType> REDUCED =
      EnumSet.of(
          ElementType.F32,
          ElementType.F64,
          ElementType.I8,
          ElementType.I32,
          ElementType.I64,
          ElementType.U64);
  private static final Set<ElementType> CUMULATED =
      EnumSet.of(ElementType.F32, ElementType.F64, ElementType.I32, ElementType.I64);

  /** Of lines that lie beside each other. */
  private static final long NEIGHBOURS = 8;

  private ReductionLowering() {}

  static Optional<TileSpace> lower(
      Reduction op, List<TensorView> operands, List<TensorView> results) {
    TensorView x = operands.getFirst();
    return switch (op) {
      case Reduction.Reduce reduce ->
          REDUCED.contains(x.element()) && x.shape().size() <= TileGrid.KERNEL_AXES
              ? Optional.of(reduce(reduce, x, results.getFirst()))
              : Optional.empty();
      case Reduction.Softmax(int axis, boolean logarithm) ->
          x.element() == ElementType.F32
              ? Optional.of(
                  softmax(logarithm ? "log_softmax_f32" : "softmax_f32", axis, x, results))
              : Optional.empty();
      case Reduction.ArgReduce reduce ->
          REDUCED.contains(x.element())
              ? Optional.of(argReduce(reduce, x, results.getFirst()))
              : Optional.empty();
      case Reduction.TopK topK ->
          REDUCED.contains(x.element()) ? Optional.of(topK(topK, x, results)) : Optional.empty();
      case Reduction.Cumulative cumulative ->
          CUMULATED.contains(x.element())
              ? Optional.of(cumulative(cumulative, x, results.getFirst()))
              : Optional.empty();
    };
  }

  private static TileSpace softmax(
      String kernel, int axis, TensorView x, List<TensorView> results) {
    Lines lines = new Lines(kernel, axis, x, results.getFirst());
    int in = lines.load(x);
    int out = lines.store("out", 1, results.getFirst(), x.shape().get(axis));
    lines.call("softmax", "softmax", KernelClass.SOFTMAX, 1, pointer("x", in), pointer("out", out));
    return lines.space.build();
  }

  private static TileSpace argReduce(Reduction.ArgReduce op, TensorView x, TensorView result) {
    TensorView out = op.keepDims() ? result : inserted(result, op.axis());
    Lines lines = new Lines(op.mnemonic() + "_" + x.element(), op.axis(), x, out);
    int in = lines.load(x);
    int place = lines.store("out", 1, out, 1);
    lines.call(
        "reduction",
        "arg_reduce",
        KernelClass.REDUCTION,
        1,
        pointer("x", in),
        pointer("out", place),
        integer("select_last", op.selectLast() ? 1 : 0));
    return lines.space.build();
  }

  private static TileSpace topK(Reduction.TopK op, TensorView x, List<TensorView> results) {
    Lines lines = new Lines("top_k_" + x.element(), op.axis(), x, results.get(0), results.get(1));
    int in = lines.load(x);
    int values = lines.store("values", 1, results.get(0), op.k().value());
    int indices = lines.store("indices", 2, results.get(1), op.k().value());
    lines.call(
        "reduction",
        "top_k",
        KernelClass.REDUCTION,
        64 - Long.numberOfLeadingZeros(Math.max(1, op.k().value())),
        pointer("x", in),
        pointer("values", values),
        pointer("indices", indices),
        integer("k", op.k().value()),
        integer("largest", op.largest() ? 1 : 0));
    return lines.space.build();
  }

  private static TileSpace cumulative(Reduction.Cumulative op, TensorView x, TensorView result) {
    Lines lines = new Lines(op.mnemonic() + "_" + x.element(), op.axis(), x, result);
    int in = lines.load(x);
    int out = lines.store("out", 1, result, x.shape().get(op.axis()));
    lines.call(
        "reduction",
        "cumulative",
        KernelClass.REDUCTION,
        1,
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

  /** Lines along one axis: {@code [outer, extent, inner]}, of which the extent isn't cut. */
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

    void call(String header, String struct, KernelClass rate, long passes, Argument... arguments) {
      TileExpression lines = TileGrid.elements(outerAxes);
      TileExpression beside = TileGrid.elements(innerAxes);
      long extent = x.shape().get(axis);
      List<Argument> all = new ArrayList<>(List.of(arguments));
      all.add(integer("outer", lines));
      all.add(integer("extent", extent));
      all.add(integer("inner", beside));
      space.call(
          kernel,
          header,
          struct,
          all,
          rate,
          x.element(),
          TileSpaceBuilder.lines(lines.times(beside), TileExpression.of(extent), passes));
    }
  }

  private static TileSpace reduce(Reduction.Reduce op, TensorView x, TensorView result) {
    String kernel = op.mnemonic() + "_" + x.element();
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
        "reduction",
        "reduce",
        List.of(
            pointer("x", in),
            pointer("out", result),
            integers("extents", TileGrid.six(kept.get(0), 1)),
            integers("strides", TileGrid.six(kept.get(1), 0)),
            integers("joined_extents", TileGrid.six(joined.get(0), 1)),
            integers("joined_strides", TileGrid.six(joined.get(1), 0))),
        KernelClass.REDUCTION,
        x.element(),
        TileSpaceBuilder.lines(
            TileSpaceBuilder.product(kept.get(0)), TileSpaceBuilder.product(joined.get(0)), 1));
    return space.build();
  }
}
