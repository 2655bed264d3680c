package io.partita.runtime;

import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;
import java.util.SplittableRandom;

/** Random operands. */
final class Samples {
  private final SplittableRandom random;

  Samples(long seed) {
    random = new SplittableRandom(seed);
  }

  /** Both included. */
  int from(int from, int to) {
    return random.nextInt(from, to + 1);
  }

  boolean flag() {
    return random.nextBoolean();
  }

  boolean oneIn(int count) {
    return random.nextInt(count) == 0;
  }

  @SafeVarargs
  final <T> T one(T... choices) {
    return choices[random.nextInt(choices.length)];
  }

  /** Returns extents from 1 to {@code most}, and sometimes 0. */
  Shape shape(int rank, int most) {
    long[] extents = new long[rank];
    for (int axis = 0; axis < rank; axis++) {
      extents[axis] = oneIn(40) ? 0 : from(1, most);
    }
    return Shape.of(extents);
  }

  /** Returns a shape that broadcasts to {@code to}. */
  Shape broadcastingTo(Shape to) {
    Shape shape = to.range(from(0, to.rank()), to.rank());
    for (int axis = 0; axis < shape.rank(); axis++) {
      if (oneIn(3)) {
        shape = shape.with(axis, io.partita.ir.type.Dim.ONE);
      }
    }
    return shape;
  }

  /** Returns uniform numbers in {@code ±range}. */
  Tensor floats(Shape shape, double range) {
    float[] values = new float[Math.toIntExact(shape.elements())];
    for (int i = 0; i < values.length; i++) {
      values[i] = (float) random.nextDouble(-range, range);
    }
    return Tensor.floats(shape, values);
  }

  /**
   * Returns any bits, and often infinities, NaNs, zeros of both signs, halves and large integers.
   */
  Tensor oddFloats(Shape shape) {
    float[] values = new float[Math.toIntExact(shape.elements())];
    for (int i = 0; i < values.length; i++) {
      values[i] =
          switch (from(0, 3)) {
            case 0 -> Float.intBitsToFloat(random.nextInt());
            case 1 -> from(-9, 9) / 2f;
            case 2 -> (float) random.nextDouble(-300, 300);
            default ->
                one(
                    0f,
                    -0f,
                    1f,
                    -1f,
                    Float.NaN,
                    Float.POSITIVE_INFINITY,
                    Float.NEGATIVE_INFINITY,
                    Float.MIN_VALUE,
                    Float.MAX_VALUE,
                    0x1p23f,
                    -0x1.fffffep22f,
                    0x1p31f,
                    -0x1p63f);
          };
    }
    return Tensor.floats(shape, values);
  }

  /** Like {@link #oddFloats}, for f64. */
  Tensor oddDoubles(Shape shape) {
    double[] values = oddFloats(shape).doubles().clone();
    for (int i = 0; i < values.length; i++) {
      values[i] =
          switch (from(0, 3)) {
            case 0 -> Double.longBitsToDouble(random.nextLong());
            case 1 -> values[i] * (1 + random.nextInt() * 0x1p-52);
            case 2 -> one(Double.MIN_VALUE, Double.MAX_VALUE, 0x1p53 - 1, -0x1p63, 0x1p64);
            default -> values[i];
          };
    }
    return Tensor.ofDoubles(new TensorType(ElementType.F64, shape), values);
  }

  /** Returns integers from {@code low} to {@code high}, inclusive. */
  Tensor integers(ElementType element, Shape shape, long low, long high) {
    long[] values = new long[Math.toIntExact(shape.elements())];
    for (int i = 0; i < values.length; i++) {
      values[i] = low == high ? low : random.nextLong(low, high) + (random.nextBoolean() ? 1 : 0);
    }
    return Tensor.ofLongs(new TensorType(element, shape), values);
  }

  /** Returns any integers of the type, and often extreme ones. */
  Tensor integers(ElementType element, Shape shape) {
    long[] values = new long[Math.toIntExact(shape.elements())];
    for (int i = 0; i < values.length; i++) {
      values[i] = oneIn(6) ? one(element.minimum(), element.maximum(), 0L) : random.nextLong();
    }
    return Tensor.ofLongs(new TensorType(element, shape), values);
  }

  Tensor booleans(Shape shape) {
    return integers(ElementType.BOOL, shape, 0, 1);
  }
}
