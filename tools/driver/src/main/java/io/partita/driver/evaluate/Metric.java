package io.partita.driver.evaluate;

import io.partita.driver.text.CompiledModel;

/** A quality metric of a model on given data; programs are passed in. */
public interface Metric {
  /** The name, such as {@code perplexity}. */
  String name();

  /** The averaged unit: tokens, or images. */
  String unit();

  int samples();

  /**
   * Runs a program to find out whether the metric has a meaning for it.
   *
   * @throws io.partita.ir.diagnostic.PartitaException with {@link MetricCode#NO_METRIC} if not
   */
  default void verify(CompiledModel program) {}

  /**
   * Runs a program on one sample. Samples are independent of each other, and several programs may
   * score them in parallel.
   */
  Score score(CompiledModel program, int sample);

  /** Whether it measures how good a model is, and not only what its outputs look like. */
  default boolean isQuality() {
    return true;
  }

  /** Whether a better model has a larger value. */
  boolean isLargerBetter();

  /** The metric of the mean of all scores. */
  double value(double mean);
}
