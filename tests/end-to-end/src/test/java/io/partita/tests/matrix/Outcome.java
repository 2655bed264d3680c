package io.partita.tests.matrix;

/** The result of a model on several devices, compared with one device. */
sealed interface Outcome {
  /**
   * The results agree.
   *
   * @param relative the largest difference of an element of an output, relative to the output's
   *     largest element
   * @param ofBound the largest difference as a fraction of the bound; at most 1
   * @param exact every bit of every output is the same
   * @param messages the number of messages that devices send in one run
   */
  record Agrees(double relative, double ofBound, boolean exact, long messages) implements Outcome {}

  /**
   * The compiler refuses the distribution of the model.
   *
   * @param code the diagnostic's
   */
  record Refused(String code, String reason) implements Outcome {}

  /** The results differ by more than the bound, or something broke. */
  record Fails(String reason) implements Outcome {}
}
