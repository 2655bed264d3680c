package io.partita.passes.schedule.lower;

import static io.partita.ir.schedule.kernel.Argument.integer;
import static io.partita.ir.schedule.kernel.Argument.pointer;

import io.partita.ir.schedule.BoxDimension;
import io.partita.ir.schedule.kernel.Argument;
import io.partita.ir.schedule.kernel.TileExpression;
import io.partita.ir.type.ElementType;
import java.util.List;
import java.util.Optional;

/**
 * {@code rotary.h}: heads and positions are tiled, vectors are not. Vectors that an epilogue
 * quantizes are in scratch memory before.
 */
final class RotaryLowering {
  private RotaryLowering() {}

  static Optional<TileSpace> lower(
      boolean interleaved, List<TensorView> operands, TensorView out, TileEpilogues epilogues) {
    TensorView x = operands.get(0);
    if (x.element() != ElementType.F32) {
      return Optional.empty();
    }
    String kernel = interleaved ? "rotary_interleaved_f32" : "rotary_half_f32";
    TileSpaceBuilder space = new TileSpaceBuilder(kernel);
    boolean hasOneTable = operands.get(1).shape().getFirst() == 1;
    long batches = x.shape().get(0);
    int batch =
        space.axis(
            new TileSpace.Axis(
                "batch", batches, 1, hasOneTable ? batches : 1, false, Optional.empty()));
    int heads = space.axis("heads", x.shape().get(1), 1);
    int seq = space.axis("seq", x.shape().get(2), 1);
    long size = x.shape().get(3);
    int in = space.load("x", 0, x.element(), TileGrid.closed(dimensions(x, batch, heads, seq)));
    int cosines = space.load("cosines", 1, x.element(), table(operands.get(1), batch, seq));
    int sines = space.load("sines", 2, x.element(), table(operands.get(2), batch, seq));
    List<BoxDimension> place = dimensions(out, batch, heads, seq);
    TileEpilogues.Loaded others = epilogues.load(space, epilogues.along(out, place));
    int result = space.store("out", 3 + others.count(), out.element(), TileGrid.closed(place));
    TileEpilogues.Values values =
        others.values(result, out.element(), place.stream().map(BoxDimension::size).toList());
    TileExpression vectors = TileGrid.elements(List.of(batch, heads));
    TileExpression rows = TileExpression.size(seq);
    space.call(
        kernel,
        List.of(
            pointer("x", in),
            pointer("cosines", cosines),
            pointer("sines", sines),
            new Argument("out", values.first(out.element())),
            integer("heads", vectors),
            integer("seq", rows),
            integer("d", size),
            integer("half", operands.get(1).shape().get(2)),
            integer("head_stride", rows.times(size)),
            integer("seq_stride", size)));
    values.call(List.of());
    return Optional.of(space.build());
  }

  private static List<BoxDimension> dimensions(TensorView view, int batch, int heads, int seq) {
    return List.of(
        BoxDimension.along(batch, view.shape().get(0), view.strides().get(0)),
        BoxDimension.along(heads, view.shape().get(1), view.strides().get(1)),
        BoxDimension.along(seq, view.shape().get(2), view.strides().get(2)),
        BoxDimension.whole(view.shape().get(3), view.strides().get(3)));
  }

  private static List<BoxDimension> table(TensorView view, int batch, int seq) {
    BoxDimension half = BoxDimension.whole(view.shape().get(2), view.strides().get(2));
    BoxDimension rows = BoxDimension.along(seq, view.shape().get(1), view.strides().get(1));
    return TileGrid.closed(
        view.shape().getFirst() == 1
            ? List.of(rows, half)
            : List.of(
                BoxDimension.along(batch, view.shape().get(0), view.strides().get(0)), rows, half));
  }
}
