package io.partita.passes.schedule.lower;

import static io.partita.ir.schedule.Argument.integers;
import static io.partita.ir.schedule.Argument.pointer;

import io.partita.ir.op.Op;
import io.partita.ir.op.Quantized;
import io.partita.ir.schedule.KernelCall;
import io.partita.ir.target.KernelClass;
import io.partita.ir.type.ElementType;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** {@code quantize.h}. */
final class QuantizedLowering implements KernelLowering {
  private static final Set<ElementType> TYPES =
      Set.of(ElementType.I8, ElementType.U8, ElementType.I16, ElementType.U16, ElementType.I32);

  @Override
  public Optional<TileSpace> lower(Op op, List<TensorView> operands, List<TensorView> results) {
    if (!(op instanceof Quantized quantized)) {
      return Optional.empty();
    }
    TensorView x = operands.getFirst();
    TensorView out = results.getFirst();
    return switch (quantized) {
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
    Walk walk = Walk.of(views.getFirst().shape(), views);
    String name = function + "_" + x.element().text() + "_" + out.element().text();
    KernelCall call =
        new KernelCall(
            "partita_" + name,
            "kernels/quantize.h",
            "partita_quantize",
            List.of(
                pointer("x", 0),
                pointer("scale", 1),
                pointer("zero", 2),
                pointer("out", 3),
                integers("extents", walk.tileExtents()),
                integers("parameter_strides", walk.tileStrides(1))),
            List.of(),
            KernelClass.ELEMENTWISE,
            ElementType.F32,
            TileSpaceBuilder.elements(walk.count(), 2));
    return Optional.of(
        new TileSpace(
            name,
            walk.axes(),
            Operands.of(walk, views, List.of("x", "scale", "zero", "out")),
            List.of(),
            List.of(call)));
  }

  /** A dimension as blocks of so many elements. */
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

  /** A scalar, or a vector as one dimension of so many. */
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
