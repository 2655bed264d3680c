package io.partita.driver.evaluate;

import io.partita.driver.text.CompiledModel;

/** How good a model's answers are. A metric knows the data; programs are handed in. */
public interface Metric {
  /** Such as {@code perplexity}. */
  String name();

  /** What is averaged: tokens, or images. */
  String unit();

  int samples();

  /**
   * Runs a program on one sample. Samples are independent of each other, and may be scored by
   * several programs at once.
   */
  Score score(CompiledModel program, int sample);

  /** Whether a better model has a larger value. */
  boolean isLargerBetter();

  /** The metric of the mean of all scores. */
  double value(double mean);
}
