package io.partita.ir.tensor;

import static org.assertj.core.api.Assertions.assertThat;

import java.math.BigDecimal;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;

class Float16Test {
  /**
   * Tests values next to the middle between two neighbours, which a float would round to the middle
   * itself.
   */
  @Property
  void doublesAreRoundedOnce(
      @ForAll @IntRange(min = 0, max = 0x7bfe) int bits, @ForAll @IntRange(max = 2) int side) {
    double half = between(Float16.fromHalf((short) bits), Float16.fromHalf((short) (bits + 1)));
    assertRounded(half, side, bits, Float16.toHalf(beside(half, side)));
    assertRounded(half, side, bits, Float16.toHalf(-beside(half, side)) & 0x7fff);
  }

  @Property
  void doublesAreRoundedOnceToBfloat(
      @ForAll @IntRange(min = 0x0080, max = 0x7f7e) int bits, @ForAll @IntRange(max = 2) int side) {
    double half = between(Float16.fromBfloat((short) bits), Float16.fromBfloat((short) (bits + 1)));
    assertRounded(half, side, bits, Float16.toBfloat(beside(half, side)));
    assertRounded(half, side, bits, Float16.toBfloat(-beside(half, side)) & 0x7fff);
  }

  private static double between(float least, float most) {
    return new BigDecimal(least).add(new BigDecimal(most)).divide(new BigDecimal(2)).doubleValue();
  }

  /** Returns the middle, or the double before or after it. */
  private static double beside(double middle, int side) {
    return side == 0 ? middle : side == 1 ? Math.nextDown(middle) : Math.nextUp(middle);
  }

  private static void assertRounded(double middle, int side, int bits, int rounded) {
    int nearest = side == 0 ? bits + (bits & 1) : side == 1 ? bits : bits + 1;
    assertThat(rounded & 0xffff).as("%s beside %a", side, middle).isEqualTo(nearest);
  }

  @Test
  void largeValuesAreInfinite() {
    assertThat(Float16.fromHalf(Float16.toHalf(65519.999))).isEqualTo(65504);
    assertThat(Float16.fromHalf(Float16.toHalf(65520))).isEqualTo(Float.POSITIVE_INFINITY);
    assertThat(Float16.fromBfloat(Float16.toBfloat(-1e300))).isEqualTo(Float.NEGATIVE_INFINITY);
    assertThat(Float16.fromBfloat(Float16.toBfloat(Double.NaN))).isNaN();
  }
}
