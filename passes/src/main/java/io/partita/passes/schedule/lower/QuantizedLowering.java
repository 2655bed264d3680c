package io.partita.passes.schedule.lower;

import static io.partita.ir.schedule.kernel.Argument.integers;
import static io.partita.ir.schedule.kernel.Argument.pointer;

import io.partita.ir.op.Quantized;
import io.partita.ir.schedule.BoxDimension;
import io.partita.ir.schedule.kernel.Argument;
import io.partita.ir.schedule.kernel.TileExpression;
import io.partita.ir.type.ElementType;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** {@code quantize.h}. */
final class QuantizedLowering {
  private static final Set<ElementType> TYPES =
      EnumSet.of(ElementType.I8, ElementType.U8, ElementType.I16, ElementType.U16, ElementType.I32);

  private QuantizedLowering() {}

  static Optional<TileSpace> lower(Quantized op, List<TensorView> operands, TensorView out) {
    TensorView x = operands.getFirst();
    return switch (op) {
      case Quantized.Quantize(int axis, long block, ElementType to) ->
          x.element() == ElementType.F32 && TYPES.contains(to)
              ? lower("quantize", axis, block, operands, out)
              : Optional.empty();
      case Quantized.Dequantize(int axis, long block, ElementType to) ->
          to == ElementType.F32 && TYPES.contains(x.element())
              ? lower("dequantize", axis, block, operands, out)
              : Optional.empty();
    };
  }

  private static Optional<TileSpace> lower(
      String function, int axis, long block, List<TensorView> operands, TensorView out) {
    TensorView x = operands.getFirst();
    boolean isCut = operands.get(1).shape().size() > 0 && block > 0;
    if (operands.get(1).element() != ElementType.F32 || isCut && x.shape().get(axis) % block != 0) {
      return Optional.empty();
    }
    List<TensorView> views = new ArrayList<>();
    views.add(isCut ? cut(x, axis, block) : x);
    for (TensorView parameter : operands.subList(1, 3)) {
      views.add(isCut ? withInner(parameter, axis) : along(parameter, axis, x.shape().size()));
    }
    views.add(isCut ? cut(out, axis, block) : out);
    String kernel = function + "_" + x.element() + "_" + out.element();
    return Optional.of(space(kernel, views));
  }

  /**
   * @param views x, scale, zero point and result; the parameters broadcast to the others
   */
  private static TileSpace space(String kernel, List<TensorView> views) {
    TileSpaceBuilder space = new TileSpaceBuilder(kernel);
    List<Long> shape = views.getFirst().shape();
    TileGrid grid =
        TileGrid.of(
            shape, views.stream().map(view -> TileGrid.broadcast(view, shape)).toList(), List.of());
    List<Integer> axes = grid.axes(space, "i", 1, TileGrid.KERNEL_AXES);
    List<Argument> arguments = new ArrayList<>();
    List<Integer> parameters = List.of(1, 2);
    arguments.add(pointer("x", space.load("x", 0, type(views, 0), grid.repeated(0, axes))));
    List<BoxDimension> scales = grid.box(1, parameters, axes);
    arguments.add(pointer("scale", space.load("scale", 1, type(views, 1), scales)));
    List<BoxDimension> zeros = grid.box(2, parameters, axes);
    arguments.add(pointer("zero", space.load("zero", 2, type(views, 2), zeros)));
    arguments.add(pointer("out", space.store("out", 3, type(views, 3), grid.repeated(3, axes))));
    arguments.add(integers("extents", TileGrid.six(TileGrid.sizes(axes), 1)));
    List<TileExpression> strides = grid.tileStrides(parameters, axes);
    arguments.add(integers("parameter_strides", TileGrid.six(strides, 0)));
    space.call(kernel, arguments);
    return space.build();
  }

  private static ElementType type(List<TensorView> views, int index) {
    return views.get(index).element();
  }

  /** Splits a dimension into blocks. */
  private static TensorView cut(TensorView view, int axis, long block) {
    List<Long> shape = new ArrayList<>(view.shape());
    List<Long> strides = new ArrayList<>(view.strides());
    shape.set(axis, shape.get(axis) / block);
    shape.add(axis + 1, block);
    strides.add(axis, strides.get(axis) * block);
    return new TensorView(view.element(), shape, strides);
  }

  private static TensorView withInner(TensorView parameter, int axis) {
    List<Long> shape = new ArrayList<>(parameter.shape());
    List<Long> strides = new ArrayList<>(parameter.strides());
    shape.add(axis + 1, 1L);
    strides.add(axis + 1, 1L);
    return new TensorView(parameter.element(), shape, strides);
  }

  /** Returns a parameter that is a scalar or a vector along one of the dimensions. */
  private static TensorView along(TensorView parameter, int axis, int rank) {
    if (parameter.shape().isEmpty()) {
      return parameter;
    }
    List<Long> shape = new ArrayList<>(Collections.nCopies(rank - axis, 1L));
    List<Long> strides = new ArrayList<>(Collections.nCopies(rank - axis, 1L));
    shape.set(0, parameter.shape().getFirst());
    strides.set(0, parameter.strides().getFirst());
    return new TensorView(parameter.element(), shape, strides);
  }
}
