package io.partita.ir.type;

/** Common divisors of extents. */
public final class Divisors {
  private Divisors() {}

  /** Returns the greatest number that divides both; the other number if one is 0. */
  public static long greatestCommon(long left, long right) {
    return right == 0 ? left : greatestCommon(right, left % right);
  }

  /** Returns the least number that both positive numbers divide. */
  public static long leastCommonMultiple(long left, long right) {
    return left / greatestCommon(left, right) * right;
  }
}
