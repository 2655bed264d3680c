package io.partita.ir.eval;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/**
 * A decoder of one head, in plain Java: each layer computes {@code x + attention(x)}, then {@code x
 * + tanh(x W)}. One instance is one device with its KV cache.
 */
final class ToyDecoder implements SpeculativeExecution.Decoder {
  static final int SIZE = 8;

  private final int chunk;
  private final List<double[][][]> weights = new ArrayList<>();
  private final List<List<double[]>> keys = new ArrayList<>();
  private final List<List<double[]>> values = new ArrayList<>();

  ToyDecoder(int layers, int chunk, long seed) {
    this.chunk = chunk;
    SplittableRandom random = new SplittableRandom(seed);
    for (int layer = 0; layer < layers; layer++) {
      weights.add(new double[4][][]);
      for (int i = 0; i < 4; i++) {
        weights.getLast()[i] = new double[SIZE][];
        for (int j = 0; j < SIZE; j++) {
          weights.getLast()[i][j] = random.doubles(SIZE, -0.6, 0.6).toArray();
        }
      }
      keys.add(new ArrayList<>());
      values.add(new ArrayList<>());
    }
  }

  @Override
  public int layers() {
    return weights.size();
  }

  @Override
  public double[] beforeAttention(int layer, double[] x) {
    keys.get(layer).add(product(weights.get(layer)[1], x));
    values.get(layer).add(product(weights.get(layer)[2], x));
    return product(weights.get(layer)[0], x);
  }

  @Override
  public FlashDecode.Result attention(int layer, double[] query) {
    return new FlashDecode(
            query,
            keys.get(layer).toArray(double[][]::new),
            values.get(layer).toArray(double[][]::new),
            keys.get(layer).size(),
            chunk,
            3)
        .run();
  }

  @Override
  public double[] afterAttention(int layer, double[] x, double[] attention) {
    double[] sum = new double[SIZE];
    for (int i = 0; i < SIZE; i++) {
      sum[i] = x[i] + attention[i];
    }
    double[] inner = product(weights.get(layer)[3], sum);
    for (int i = 0; i < SIZE; i++) {
      sum[i] += Math.tanh(inner[i]);
    }
    return sum;
  }

  /** The number of tokens in the cache of a layer. */
  int cached(int layer) {
    return keys.get(layer).size();
  }

  private static double[] product(double[][] weight, double[] x) {
    double[] y = new double[weight.length];
    for (int i = 0; i < y.length; i++) {
      for (int j = 0; j < x.length; j++) {
        y[i] += weight[i][j] * x[j];
      }
    }
    return y;
  }
}
