package io.partita.passes.schedule.lower;

import static io.partita.ir.schedule.kernel.Argument.integer;
import static io.partita.ir.schedule.kernel.Argument.pointer;

import io.partita.ir.schedule.BoxDimension;
import io.partita.ir.schedule.kernel.Argument;
import io.partita.ir.schedule.kernel.TileExpression;
import io.partita.ir.type.ElementType;
import io.partita.passes.schedule.legalize.KernelTypes;
import java.util.List;

/**
 * The call of a kernel of {@code gemm.h} on tiles without gaps.
 *
 * @param batch the number of matrices in a tile
 * @param m the rows of a matrix
 * @param n the columns of the result
 * @param k the terms of each sum
 * @param leftBatch the elements between two left matrices
 * @param outBatch the elements between two matrices of the result
 * @param transposed whether the right matrix is {@code [n, k]}
 */
record ProductCall(
    TileExpression batch,
    TileExpression m,
    TileExpression n,
    TileExpression k,
    TileExpression leftBatch,
    TileExpression outBatch,
    boolean transposed) {
  /** Rows and columns in which kernels compute. */
  static final long BLOCK = 4;

  static String kernel(boolean isVector, TensorView left, TensorView right) {
    return (isVector ? "gemv_" : "gemm_") + KernelTypes.operands(left.element(), right.element());
  }

  /**
   * Loads the bias, which is added with the last terms of each sum.
   *
   * @param columns the columns of the result, in steps of the bias
   * @param depth the axis of the terms
   */
  static Argument bias(
      TileSpaceBuilder space, ElementType element, BoxDimension columns, int depth) {
    Argument.Value vector =
        pointer("bias", space.load("bias", 2, element, List.of(columns))).value();
    return new Argument(
        "bias", new Argument.Value.PointerWhen(new TileExpression.Last(depth), vector));
  }

  /**
   * The fields after the pointers.
   *
   * @param depth the axis of the terms; the first tile along it begins the sums
   */
  List<Argument> extents(int depth) {
    TileExpression one = TileExpression.of(1);
    return List.of(
        integer("batch", batch),
        integer("group", 1),
        integer("m", m),
        integer("n", n),
        integer("k", k),
        integer("accumulate", one.minus(new TileExpression.First(depth))),
        integer("left_batch", leftBatch),
        integer("left_row", k),
        integer("left_column", 1),
        integer("right_batch", k.times(n)),
        integer("right_row", transposed ? one : n),
        integer("right_column", transposed ? k : one),
        integer("out_batch", outBatch),
        integer("out_row", n));
  }
}
