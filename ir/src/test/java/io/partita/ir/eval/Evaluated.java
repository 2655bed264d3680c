package io.partita.ir.eval;

import io.partita.ir.op.Op;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;
import java.util.List;
import java.util.Random;

/** Shorthands for tensors and evaluations in tests. */
final class Evaluated {
  private Evaluated() {}

  /** The first result. */
  static Tensor of(Op op, Tensor... operands) {
    return OpEvaluator.evaluate(op, List.of(operands)).getFirst();
  }

  /** A vector of floats. */
  static Tensor vector(ElementType element, double... values) {
    return Tensor.ofDoubles(TensorType.of(element, values.length), values);
  }

  /** A vector of integers or booleans. */
  static Tensor integers(ElementType element, long... values) {
    return Tensor.ofLongs(TensorType.of(element, values.length), values);
  }

  /** Elements from -1 to 1. */
  static Tensor random(long seed, long... extents) {
    return random(ElementType.F32, seed, extents);
  }

  static Tensor random(ElementType element, long seed, long... extents) {
    Random random = new Random(seed);
    double[] values = new double[(int) Shape.of(extents).elements()];
    for (int i = 0; i < values.length; i++) {
      values[i] = random.nextFloat() * 2 - 1;
    }
    return Tensor.ofDoubles(TensorType.of(element, extents), values);
  }
}
