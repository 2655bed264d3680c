package io.partita.passes.graph.speculate;

/**
 * The bounds on the error of the last hidden state in appendix A of "Attention-Level Speculation".
 * Both assume hidden states of one norm, to which they are relative.
 */
public final class ErrorBound {
  /** The probability with which the likely bound may be exceeded. */
  private static final double EXCEEDED = 0.05;

  private ErrorBound() {}

  /**
   * Returns the bound of appendix A.3, {@code lambda sqrt((4 - ln 0.05) N / c)}, which holds with a
   * probability of 95 % if errors are independent and have a mean of 0. The paper's constant c is
   * unknown, and 1 here.
   *
   * @param blocks N, the number of attentions that are speculated on
   */
  public static double likely(double lambda, int blocks) {
    return lambda * Math.sqrt((4 - Math.log(EXCEEDED)) * blocks);
  }

  /**
   * Returns the linear bound of the worst case in appendix A.2 for blocks that don't enlarge a
   * difference (alpha and f(R) beta of 0): all errors add up.
   */
  public static double worst(double lambda, int blocks) {
    return lambda * blocks;
  }
}
