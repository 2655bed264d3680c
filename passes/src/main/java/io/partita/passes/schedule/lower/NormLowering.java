package io.partita.passes.schedule.lower;

import static io.partita.ir.schedule.kernel.Argument.integer;
import static io.partita.ir.schedule.kernel.Argument.none;
import static io.partita.ir.schedule.kernel.Argument.number;
import static io.partita.ir.schedule.kernel.Argument.pointer;

import io.partita.ir.op.Structured;
import io.partita.ir.schedule.BoxDimension;
import io.partita.ir.schedule.kernel.Argument;
import io.partita.ir.schedule.kernel.TileExpression;
import io.partita.ir.type.ElementType;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * {@code norm.h}: whole rows, with a scale and a bias that are loaded once. Rows that epilogues
 * follow are one dimension.
 */
final class NormLowering {
  private NormLowering() {}

  static Optional<TileSpace> lower(
      Structured.Norm norm, List<TensorView> operands, TensorView out, TileEpilogues epilogues) {
    TensorView x = operands.getFirst();
    if (x.element() != ElementType.F32) {
      return Optional.empty();
    }
    String kernel = norm.mnemonic() + "_f32";
    TileSpaceBuilder space = new TileSpaceBuilder(kernel);
    int axis = norm.axis();
    List<Long> row = out.shape().subList(axis, out.shape().size());
    List<List<Long>> strides = new ArrayList<>(List.of(x.strides(), out.strides()));
    strides.addAll(epilogues.strides(out));
    TileGrid grid =
        TileGrid.of(
            out.shape().subList(0, axis),
            strides.stream().map(each -> each.subList(0, axis)).toList(),
            List.of());
    int walked = epilogues.functions().isEmpty() ? grid.rank() : TileGrid.KERNEL_AXES - 1;
    List<Integer> axes = grid.axes(space, "rows", 1, walked);
    int in = space.load("x", 0, x.element(), box(grid, 0, axes, row, x.strides(), axis));
    List<Integer> vectors = new ArrayList<>();
    int next = 1;
    for (String vector : vectors(norm)) {
      TensorView view = operands.get(next);
      List<BoxDimension> box = whole(row, TileGrid.broadcast(view, row));
      vectors.add(space.load(vector, next, view.element(), box));
      next++;
    }
    TileEpilogues.Loaded others = epilogues.load(space, epilogues.alongRows(grid, 2, axes, out));
    int result =
        space.store(
            "out",
            next + others.count(),
            out.element(),
            box(grid, 1, axes, row, out.strides(), axis));
    long size = row.stream().reduce(1L, Math::multiplyExact);
    TileExpression rows = TileGrid.elements(axes);
    List<TileExpression> sizes = new ArrayList<>(TileGrid.sizes(axes));
    sizes.add(TileExpression.of(size));
    TileEpilogues.Values values = others.values(result, out.element(), sizes);
    space.call(
        kernel,
        arguments(
            norm,
            pointer("x", in).value(),
            vectors,
            values.first(out.element()),
            rows,
            TileExpression.of(size)));
    values.call(List.of());
    return Optional.of(space.build());
  }

  /** Returns the names of a norm's parameters. */
  static List<String> vectors(Structured.Norm norm) {
    List<String> names = new ArrayList<>();
    if (norm.scale()) {
      names.add("scale");
    }
    if (norm.bias()) {
      names.add("bias");
    }
    return names;
  }

  /**
   * Returns the arguments of the kernel.
   *
   * @param vectors the operands with the norm's parameters
   */
  static List<Argument> arguments(
      Structured.Norm norm,
      Argument.Value x,
      List<Integer> vectors,
      Argument.Value out,
      TileExpression rows,
      TileExpression size) {
    List<Argument> arguments = new ArrayList<>();
    arguments.add(new Argument("x", x));
    arguments.add(norm.scale() ? pointer("scale", vectors.getFirst()) : none("scale"));
    arguments.add(norm.bias() ? pointer("bias", vectors.getLast()) : none("bias"));
    arguments.add(new Argument("out", out));
    arguments.add(integer("rows", rows));
    arguments.add(integer("size", size));
    arguments.add(number("epsilon", (float) norm.epsilon()));
    return arguments;
  }

  private static List<BoxDimension> box(
      TileGrid grid, int tensor, List<Integer> axes, List<Long> row, List<Long> strides, int axis) {
    List<BoxDimension> box = new ArrayList<>();
    for (int i = 0; i < grid.rank(); i++) {
      long stride = grid.strides().get(tensor).get(i);
      box.add(BoxDimension.along(axes.get(i), grid.extents().get(i), stride));
    }
    box.addAll(whole(row, strides.subList(axis, strides.size())));
    return TileGrid.closed(box);
  }

  /** A vector that broadcasts along the row is loaded with a stride of 0. */
  private static List<BoxDimension> whole(List<Long> shape, List<Long> strides) {
    TileGrid grid = TileGrid.of(shape, List.of(strides), List.of());
    List<BoxDimension> box = new ArrayList<>();
    for (int i = 0; i < grid.rank(); i++) {
      box.add(BoxDimension.whole(grid.extents().get(i), grid.strides().getFirst().get(i)));
    }
    return TileGrid.closed(box);
  }
}
