package io.partita.benchmarks.device;

import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.TensorType;
import java.util.SplittableRandom;

/** Deterministic tensors of ordinary numbers. */
final class Samples {
  private final SplittableRandom random = new SplittableRandom(1);

  /** Returns numbers from 0.1 to 1. */
  Tensor floats(long... extents) {
    TensorType type = TensorType.of(ElementType.F32, extents);
    float[] values = new float[Math.toIntExact(type.shape().elements())];
    for (int i = 0; i < values.length; i++) {
      values[i] = (float) random.nextDouble(0.1, 1);
    }
    return Tensor.of(type, values);
  }

  /** Returns numbers of the normal distribution. */
  Tensor normal(long... extents) {
    TensorType type = TensorType.of(ElementType.F32, extents);
    float[] values = new float[Math.toIntExact(type.shape().elements())];
    for (int i = 0; i < values.length; i++) {
      values[i] = (float) random.nextGaussian();
    }
    return Tensor.of(type, values);
  }

  /** Returns integers from -99 or, if unsigned, from 0 to 99. */
  Tensor integers(ElementType element, long... extents) {
    return integers(element, element == ElementType.U8 ? 0 : -99, 100, extents);
  }

  Tensor integers(ElementType element, long low, long end, long... extents) {
    TensorType type = TensorType.of(element, extents);
    long[] values = new long[Math.toIntExact(type.shape().elements())];
    for (int i = 0; i < values.length; i++) {
      values[i] = random.nextLong(low, end);
    }
    return Tensor.ofLongs(type, values);
  }
}
