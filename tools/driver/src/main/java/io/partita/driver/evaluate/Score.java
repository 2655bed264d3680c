package io.partita.driver.evaluate;

/**
 * What a sample adds to a metric, which is a function of the mean.
 *
 * @param sum of what is averaged, such as the negative log likelihoods of tokens
 * @param count how many are averaged
 */
public record Score(double sum, long count) {
  static final Score NONE = new Score(0, 0);

  Score plus(Score other) {
    return new Score(sum + other.sum, count + other.count);
  }

  double mean() {
    return sum / count;
  }
}
