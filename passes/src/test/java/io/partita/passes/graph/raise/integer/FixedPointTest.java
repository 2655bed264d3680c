package io.partita.passes.graph.raise.integer;

import static org.assertj.core.api.Assertions.assertThat;

import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.Random;
import org.junit.jupiter.api.Test;

class FixedPointTest {
  private static final int ROUNDS = 2000;
  private static final int SUMS = 50;

  /** The result is that of exact arithmetic unless that is as near a half as documented. */
  @Test
  void staysWithinTheDocumentedBound() {
    Random random = new Random(7);
    int compared = 0;
    for (int round = 0; round < ROUNDS; round++) {
      double factor = Math.scalb(1 + random.nextDouble(), -random.nextInt(1, 22));
      double offset = random.nextInt(-128, 256) + (random.nextBoolean() ? random.nextDouble() : 0);
      FixedPoint point =
          FixedPoint.of(new double[] {factor}, new double[] {offset}, 1 << 26).orElseThrow();
      for (int i = 0; i < SUMS; i++) {
        long sum = Math.round(random.nextGaussian() * 100 / factor);
        sum = Math.clamp(sum, -(1 << 26), 1 << 26);
        long biased = sum + point.bias().getLong(0);
        assertThat(biased).isBetween((long) Integer.MIN_VALUE, (long) Integer.MAX_VALUE);
        long half = 1L << point.shift() - 1;
        long found =
            biased * point.multiplier().getLong(0) + point.addend().getLong(0) + half
                >> point.shift();
        BigDecimal exact =
            new BigDecimal(factor).multiply(BigDecimal.valueOf(sum)).add(new BigDecimal(offset));
        BigDecimal bound =
            BigDecimal.valueOf(Math.abs(sum) + 1)
                .multiply(new BigDecimal(Math.scalb(1.0, -point.shift())));
        long low = rounded(exact.subtract(bound));
        long high = rounded(exact.add(bound));
        assertThat(found).isBetween(low, high);
        assertThat(high - low).isLessThanOrEqualTo(1);
        compared += low == high ? 1 : 0;
      }
    }
    assertThat(compared).isGreaterThan(ROUNDS * SUMS * 99 / 100);
  }

  private static long rounded(BigDecimal value) {
    return value.add(new BigDecimal("0.5")).setScale(0, RoundingMode.FLOOR).longValueExact();
  }

  @Test
  void multipliersOfOtherColumnsHaveTheSameShift() {
    FixedPoint point =
        FixedPoint.of(new double[] {0.001, 0.0000001}, new double[] {128, 0}, 1000).orElseThrow();
    assertThat(point.shift()).isEqualTo(40);
    assertThat(point.multiplier().longs()).containsExactly(1_099_511_628L, 109_951L);
    assertThat(point.bias().longs()).containsExactly(128_000L, 0L);
  }

  @Test
  void refusesFactorsAndOffsetsWithoutAShift() {
    assertThat(FixedPoint.of(new double[] {0}, new double[] {0}, 1)).isEmpty();
    assertThat(FixedPoint.of(new double[] {Double.NaN}, new double[] {0}, 1)).isEmpty();
    assertThat(FixedPoint.of(new double[] {4e9}, new double[] {0}, 1)).isEmpty();
    assertThat(FixedPoint.of(new double[] {1e-9}, new double[] {128}, 1)).isEmpty();
  }
}
