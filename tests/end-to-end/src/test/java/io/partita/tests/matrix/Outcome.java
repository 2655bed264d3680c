package io.partita.tests.matrix;

/** What came of a model on some devices, compared with one device. */
sealed interface Outcome {
  /**
   * The results agree.
   *
   * @param relative the largest difference of an element of an output, relative to the output's
   *     largest element
   * @param ofBound the largest difference as a part of what is allowed; at most 1
   * @param exact every bit of every output is the same
   * @param messages that devices send in one run
   */
  record Agrees(double relative, double ofBound, boolean exact, long messages) implements Outcome {}

  /**
   * The compiler says that the model can't be distributed so.
   *
   * @param code the diagnostic's
   */
  record Refused(String code, String reason) implements Outcome {}

  /** The results differ by more than the bound, or something broke. */
  record Fails(String reason) implements Outcome {}
}
