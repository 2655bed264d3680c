package io.partita.driver.text;

import java.util.Arrays;
import java.util.random.RandomGenerator;
import java.util.random.RandomGeneratorFactory;

/** Chooses the next token: the likeliest one, or a random one by the model's probabilities. */
public final class Sampler {
  private final double temperature;
  private final int topK;
  private final double topP;
  private final RandomGenerator random;

  /**
   * @param temperature divides the logits; 0 always chooses the likeliest token
   * @param topK chooses among this number of likeliest tokens; 0 for all
   * @param topP chooses among the fewest likeliest tokens whose probabilities add up to it, after
   *     {@code topK}; 1 for all
   * @param seed the same seed gives the same choices
   */
  public Sampler(double temperature, int topK, double topP, long seed) {
    this.temperature = temperature;
    this.topK = topK;
    this.topP = topP;
    this.random = RandomGeneratorFactory.of("L64X128MixRandom").create(seed);
  }

  /** Always chooses the likeliest token, the first of equal ones. */
  public static Sampler greedy() {
    return new Sampler(0, 0, 1, 0);
  }

  /** Chooses a token for logits {@code [v]}. */
  public int choose(float[] logits) {
    if (temperature == 0 || topK == 1) {
      return LanguageModel.argMax(logits);
    }
    int[] ids = byLikelihood(logits);
    int count = topK == 0 ? ids.length : Math.min(topK, ids.length);
    double[] likelihoods = new double[count];
    double total = 0;
    for (int i = 0; i < count; i++) {
      likelihoods[i] = Math.exp((logits[ids[i]] - logits[ids[0]]) / temperature);
      total += likelihoods[i];
    }
    int kept = 0;
    double mass = 0;
    while (kept < count && (kept == 0 || mass < topP * total)) {
      mass += likelihoods[kept++];
    }
    double left = random.nextDouble() * mass;
    int chosen = 0;
    while (chosen < kept - 1 && left >= likelihoods[chosen]) {
      left -= likelihoods[chosen++];
    }
    return ids[chosen];
  }

  /** Returns the ids from the largest logit down, equal ones by id. */
  private static int[] byLikelihood(float[] logits) {
    long[] keys = new long[logits.length];
    for (int id = 0; id < logits.length; id++) {
      int bits = Float.floatToIntBits(logits[id] + 0f);
      int ascending = bits < 0 ? bits ^ Integer.MAX_VALUE : bits;
      keys[id] = (long) ~ascending << 32 | id;
    }
    Arrays.sort(keys);
    return Arrays.stream(keys).mapToInt(key -> (int) key).toArray();
  }
}
