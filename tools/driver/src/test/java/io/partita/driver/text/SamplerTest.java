package io.partita.driver.text;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class SamplerTest {
  /** Probabilities of 0.1, 0.5, 0.1, 0.2, 0.1 at temperature 1. */
  private static final float[] LOGITS = logits(0.1, 0.5, 0.1, 0.2, 0.1);

  private static final int SAMPLES = 20_000;

  private static float[] logits(double... probabilities) {
    float[] logits = new float[probabilities.length];
    for (int i = 0; i < logits.length; i++) {
      logits[i] = (float) Math.log(probabilities[i]) - 3;
    }
    return logits;
  }

  private static double[] shares(Sampler sampler, float[] logits) {
    double[] shares = new double[logits.length];
    IntStream.range(0, SAMPLES).forEach(i -> shares[sampler.choose(logits)] += 1.0 / SAMPLES);
    return shares;
  }

  private static void assertShares(Sampler sampler, double... expected) {
    assertThat(shares(sampler, LOGITS)).containsExactly(expected, within(0.02));
  }

  @Test
  void tokensAreDrawnByTheirProbability() {
    assertShares(new Sampler(1, 0, 1, 1), 0.1, 0.5, 0.1, 0.2, 0.1);
  }

  @Test
  void aLowerTemperatureFavoursLikelyTokens() {
    double total = 3 * 0.01 + 0.25 + 0.04;
    assertShares(
        new Sampler(0.5, 0, 1, 2),
        0.01 / total,
        0.25 / total,
        0.01 / total,
        0.04 / total,
        0.01 / total);
  }

  @Test
  void topKKeepsTheLikeliestAndOfEqualOnesTheFirst() {
    assertShares(new Sampler(1, 3, 1, 3), 0.125, 0.625, 0, 0.25, 0);
  }

  @Test
  void topPKeepsTheFewestThatReachIt() {
    assertShares(new Sampler(1, 0, 0.69, 4), 0, 5 / 7.0, 0, 2 / 7.0, 0);
    assertShares(new Sampler(1, 0, 1e-9, 4), 0, 1, 0, 0, 0);
  }

  @Test
  void theSameSeedGivesTheSameChoices() {
    Sampler one = new Sampler(1, 0, 1, 7);
    Sampler same = new Sampler(1, 0, 1, 7);
    Sampler other = new Sampler(1, 0, 1, 8);
    int[] first = IntStream.range(0, 50).map(i -> one.choose(LOGITS)).toArray();
    assertThat(IntStream.range(0, 50).map(i -> same.choose(LOGITS)).toArray()).isEqualTo(first);
    assertThat(IntStream.range(0, 50).map(i -> other.choose(LOGITS)).toArray()).isNotEqualTo(first);
  }

  @Test
  void withoutTemperatureTheLikeliestIsChosen() {
    assertThat(Sampler.greedy().choose(LOGITS)).isEqualTo(1);
    assertThat(new Sampler(1, 1, 1, 1).choose(new float[] {-5, -2, -2})).isEqualTo(1);
  }

  @Test
  void extremeLogitsAreOrdered() {
    float[] logits = {Float.NEGATIVE_INFINITY, -0f, 0f, 3e38f, -3e38f, 3e38f};
    assertShares(new Sampler(1, 2, 1, 5), new float[] {0, 0, 0, 0.5f, 0, 0.5f}, logits);
  }

  private static void assertShares(Sampler sampler, float[] expected, float[] logits) {
    double[] shares = shares(sampler, logits);
    for (int i = 0; i < expected.length; i++) {
      assertThat(shares[i]).isCloseTo(expected[i], within(0.02));
    }
  }
}
