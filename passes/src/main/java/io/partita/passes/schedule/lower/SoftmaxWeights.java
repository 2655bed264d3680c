package io.partita.passes.schedule.lower;

import static io.partita.ir.schedule.kernel.Argument.integer;
import static io.partita.ir.schedule.kernel.Argument.scratch;

import io.partita.ir.op.IntegerNetwork.IntegerSoftmax;
import io.partita.ir.schedule.kernel.Argument;
import io.partita.ir.schedule.kernel.IntegerNetworkKernels;
import io.partita.ir.schedule.kernel.TileExpression;
import java.util.List;

/**
 * Integer softmax of bytes by a table of weights: bytes are at most 255 below the largest one, so
 * that the weight of each distance is computed once for a tile instead of twice for each element.
 */
final class SoftmaxWeights {
  /** For fewer elements, the table takes longer to compute. */
  private static final long LEAST_ELEMENTS = 512;

  private static final long MOST_LEVELS = 256;

  private SoftmaxWeights() {}

  /** Whether it is faster by a table, and weights times levels fit 30 bits. */
  static boolean serve(IntegerSoftmax softmax, TensorView x) {
    return x.elements() >= LEAST_ELEMENTS
        && softmax.levels() <= MOST_LEVELS
        && areSmall(softmax, x, 2 * softmax.levels());
  }

  /** Whether weights, their sums and their products with levels fit 31 bits, for bytes. */
  static boolean areSmall(IntegerSoftmax softmax, TensorView x) {
    return areSmall(softmax, x, softmax.levels());
  }

  private static boolean areSmall(IntegerSoftmax softmax, TensorView x, long levels) {
    return x.element().isByte()
        && IntegerNetworkKernels.hasSmallWeights(
            softmax.a(),
            softmax.b(),
            softmax.c(),
            softmax.log2(),
            Math.max(levels, x.shape().getLast()));
  }

  /** Computes the weights in each tile, and returns the arguments of the softmax. */
  static List<Argument> computed(IntegerSoftmax softmax, TileSpaceBuilder space) {
    int weights =
        space.scratch(
            "weights", TileExpression.of((long) IntegerNetworkKernels.DISTANCES * Integer.BYTES));
    space.call(
        "softmax_weights_i32",
        List.of(
            scratch("out", weights),
            integer("a", softmax.a()),
            integer("b", softmax.b()),
            integer("c", softmax.c()),
            integer("log2", softmax.log2())));
    return List.of(scratch("weights", weights), integer("levels", softmax.levels()));
  }
}
