package io.partita.passes.schedule.tile;

import io.partita.ir.schedule.BoxDimension;
import io.partita.ir.schedule.Direction;
import io.partita.ir.schedule.kernel.Argument;
import io.partita.ir.schedule.kernel.KernelCall;
import io.partita.ir.schedule.kernel.KernelTable;
import io.partita.ir.schedule.kernel.TileExpression;
import io.partita.ir.type.ElementType;
import io.partita.passes.schedule.legalize.KernelTypes;
import io.partita.passes.schedule.lower.TileSpace;
import java.util.List;
import java.util.Optional;

/** Loops for the choice of tiles. */
final class TileSpaces {
  private TileSpaces() {}

  /** {@code out[m, n] = left[m, k] right[k, n]}. */
  static TileSpace product(ElementType element, long m, long n, long k, long granule) {
    return new TileSpace(
        "gemm",
        List.of(
            new TileSpace.Axis("m", m, Math.min(m, granule)),
            new TileSpace.Axis("n", n, Math.min(n, granule)),
            new TileSpace.Axis("k", k, Math.min(k, granule), true, Optional.empty())),
        List.of(
            operand("left", 0, element, Direction.LOAD, along(0, m, k), along(2, k, 1)),
            operand("right", 1, element, Direction.LOAD, along(2, k, n), along(1, n, 1)),
            operand("out", 2, ElementType.F32, Direction.STORE, along(0, m, n), along(1, n, 1))),
        List.of(),
        List.of(
            new KernelCall(
                KernelTable.get(
                    (m == 1 ? "gemv_" : "gemm_") + KernelTypes.operands(element, element)),
                List.of(
                    Argument.integer("batch", 1),
                    Argument.integer("group", 1),
                    Argument.integer("m", TileExpression.size(0)),
                    Argument.integer("n", TileExpression.size(1)),
                    Argument.integer("k", TileExpression.size(2))),
                List.of())));
  }

  /** Returns a window of three rows with stride one and a border. */
  static TileSpace window(long rows, long columns) {
    TileExpression start = TileExpression.start(0).minus(TileExpression.of(1));
    TileExpression from = start.maximum(TileExpression.of(0));
    TileExpression end =
        start.plus(TileExpression.size(0)).plus(2).minimum(TileExpression.of(rows));
    return new TileSpace(
        "window",
        List.of(new TileSpace.Axis("rows", rows, 1)),
        List.of(
            operand(
                "x",
                0,
                ElementType.F32,
                Direction.LOAD,
                new BoxDimension(from, end.minus(from), rows, columns),
                BoxDimension.whole(columns, 1)),
            operand(
                "out",
                1,
                ElementType.F32,
                Direction.STORE,
                along(0, rows, columns),
                BoxDimension.whole(columns, 1))),
        List.of(new TileSpace.Scratch("line", TileExpression.of(4 * columns))),
        List.of());
  }

  static BoxDimension along(int axis, long extent, long stride) {
    return BoxDimension.along(axis, extent, stride);
  }

  private static TileSpace.Operand operand(
      String name,
      int value,
      ElementType element,
      Direction direction,
      BoxDimension... dimensions) {
    return new TileSpace.Operand(name, value, element, direction, List.of(dimensions));
  }
}
