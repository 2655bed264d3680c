package io.partita.driver.evaluate;

/**
 * The contribution of a sample to a metric, which is a function of the mean.
 *
 * @param sum the sum of the averaged values, such as negative log likelihoods of tokens
 * @param count the number of averaged values
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
