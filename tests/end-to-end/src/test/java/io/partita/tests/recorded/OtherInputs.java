package io.partita.tests.recorded;

import io.partita.ir.tensor.Tensor;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.TreeSet;
import java.util.random.RandomGenerator;
import java.util.random.RandomGeneratorFactory;

/**
 * Makes valid alternatives to the recorded inputs of a model. Since the meaning of an input isn't
 * known, an input with few distinct values, which may be a mask, is only permuted within its rows;
 * other inputs get values between the smallest and the largest recorded one.
 */
public final class OtherInputs {
  private static final int FEW = 4;

  private OtherInputs() {}

  /**
   * Returns inputs with the same names, types and shapes, determined by the seed.
   *
   * @param names the inputs that may change
   */
  public static Map<String, Tensor> like(
      Map<String, Tensor> recorded, Collection<String> names, long seed) {
    RandomGenerator random = RandomGeneratorFactory.of("L64X128MixRandom").create(seed);
    Map<String, Tensor> inputs = new LinkedHashMap<>(recorded);
    // The archive's order may change when a fixture is made again; the names' order doesn't.
    for (String name : new TreeSet<>(names)) {
      inputs.put(name, like(recorded.get(name), random));
    }
    return inputs;
  }

  private static Tensor like(Tensor recorded, RandomGenerator random) {
    TreeSet<Double> distinct = new TreeSet<>();
    for (int i = 0; i < recorded.size() && distinct.size() <= FEW; i++) {
      distinct.add(recorded.getDouble(i));
    }
    double[] values = recorded.doubles().clone();
    if (distinct.size() <= FEW) {
      int rank = recorded.shape().rank();
      permuteRows(values, rank == 0 ? 1 : (int) recorded.shape().extent(rank - 1), random);
    } else {
      drawBetweenExtremes(values, !recorded.element().isFloat(), random);
    }
    return Tensor.ofDoubles(recorded.type(), values);
  }

  private static void permuteRows(double[] values, int row, RandomGenerator random) {
    for (int start = 0; start < values.length; start += row) {
      for (int i = row - 1; i > 0; i--) {
        int other = start + random.nextInt(i + 1);
        double value = values[start + i];
        values[start + i] = values[other];
        values[other] = value;
      }
    }
  }

  private static void drawBetweenExtremes(
      double[] values, boolean integers, RandomGenerator random) {
    double least = Double.POSITIVE_INFINITY;
    double most = Double.NEGATIVE_INFINITY;
    for (double value : values) {
      least = Math.min(least, value);
      most = Math.max(most, value);
    }
    for (int i = 0; i < values.length; i++) {
      values[i] =
          integers
              ? random.nextLong((long) least, (long) most + 1)
              : random.nextDouble(least, most);
    }
  }
}
