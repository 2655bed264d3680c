package io.partita.passes.graph.raise.integer;

import io.partita.ir.op.IntegerNetwork.Requantize;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.math.RoundingMode;
import java.util.Arrays;
import java.util.Optional;

/**
 * {@code round(sum factor + offset)} for each column, in integers: {@code ((sum + bias) multiplier
 * + addend + 2^shift / 2) >> shift}.
 *
 * <p>The shift is the largest with which all multipliers fit 31 bits. An offset is {@code T
 * 2^-shift} for an integer T, which is {@code bias multiplier + addend} without any remainder, so
 * that zero points of any size fit an addend of 32 bits. Multiplier and T are rounded; so the
 * result differs from that of exact arithmetic by at most 1, and only if the exact number is within
 * {@code (|sum| + 1) 2^-shift} of a half. Halves round up.
 *
 * @param bias i32 {@code [out]}
 * @param multiplier i32 {@code [out]}
 * @param addend i32 {@code [out]}
 */
record FixedPoint(int shift, Tensor bias, Tensor multiplier, Tensor addend) {
  private static final int MAX_SHIFT = 62;

  /**
   * @param factors a positive factor for each column
   * @param offsets an offset for each column
   * @param largest the largest magnitude of a sum
   * @return empty if no shift fits the factors, or sums with a bias might exceed 32 bits
   */
  static Optional<FixedPoint> of(double[] factors, double[] offsets, long largest) {
    double most = Arrays.stream(factors).max().orElse(0);
    double least = Arrays.stream(factors).min().orElse(0);
    if (!(least > 0 && most < Integer.MAX_VALUE)) {
      return Optional.empty();
    }
    // most = m 2^e with 1 <= m < 2, so that m 2^30 is below 2^31 even after rounding up.
    int shift = Math.min(MAX_SHIFT, 30 - Math.getExponent(most));
    long[] bias = new long[factors.length];
    long[] multiplier = new long[factors.length];
    long[] addend = new long[factors.length];
    for (int i = 0; i < factors.length; i++) {
      multiplier[i] =
          Math.clamp((long) Math.rint(Math.scalb(factors[i], shift)), 1, Integer.MAX_VALUE);
      BigInteger offset =
          new BigDecimal(offsets[i])
              .multiply(new BigDecimal(BigInteger.TWO.pow(shift)))
              .setScale(0, RoundingMode.HALF_UP)
              .toBigInteger();
      BigInteger quotient =
          new BigDecimal(offset)
              .divide(BigDecimal.valueOf(multiplier[i]), 0, RoundingMode.HALF_UP)
              .toBigInteger();
      if (quotient.abs().compareTo(BigInteger.valueOf(Integer.MAX_VALUE - largest)) > 0) {
        return Optional.empty();
      }
      bias[i] = quotient.longValueExact();
      addend[i] =
          offset.subtract(quotient.multiply(BigInteger.valueOf(multiplier[i]))).intValueExact();
    }
    return Optional.of(new FixedPoint(shift, vector(bias), vector(multiplier), vector(addend)));
  }

  private static Tensor vector(long[] values) {
    return Tensor.ofLongs(new TensorType(ElementType.I32, Shape.of((long) values.length)), values);
  }

  Requantize requantize(long low, long high, ElementType to) {
    return new Requantize(shift, low, high, to);
  }
}
