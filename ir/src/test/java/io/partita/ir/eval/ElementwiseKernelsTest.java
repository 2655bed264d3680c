package io.partita.ir.eval;

import static io.partita.ir.eval.Evaluated.integers;
import static io.partita.ir.eval.Evaluated.vector;
import static io.partita.ir.type.ElementType.BF16;
import static io.partita.ir.type.ElementType.BOOL;
import static io.partita.ir.type.ElementType.F16;
import static io.partita.ir.type.ElementType.F32;
import static io.partita.ir.type.ElementType.F64;
import static io.partita.ir.type.ElementType.I32;
import static io.partita.ir.type.ElementType.I4;
import static io.partita.ir.type.ElementType.I64;
import static io.partita.ir.type.ElementType.I8;
import static io.partita.ir.type.ElementType.U32;
import static io.partita.ir.type.ElementType.U4;
import static io.partita.ir.type.ElementType.U64;
import static io.partita.ir.type.ElementType.U8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.partita.ir.function.BinaryFunction;
import io.partita.ir.function.ErrorFunction;
import io.partita.ir.function.UnaryFunction;
import io.partita.ir.op.Elementwise;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

class ElementwiseKernelsTest {
  private static final double NAN = Double.NaN;
  private static final double INFINITY = Double.POSITIVE_INFINITY;

  private static Tensor binary(BinaryFunction function, Tensor left, Tensor right) {
    return Evaluated.of(new Elementwise.Binary(function), left, right);
  }

  private static Tensor unary(UnaryFunction function, Tensor x) {
    return Evaluated.of(new Elementwise.Unary(function), x);
  }

  private static Tensor cast(Tensor x, ElementType to) {
    return Evaluated.of(new Elementwise.Cast(to), x);
  }

  /** Values of CPython's math.erf, which is correct to an ulp or two. */
  @ParameterizedTest
  @CsvSource({
    "0.1, 0.1124629160182849",
    "0.46875, 0.49261347321793797",
    "0.5, 0.5204998778130465",
    "1, 0.8427007929497149",
    "-2.5, -0.999593047982555",
    "4, 0.9999999845827421",
    "4.5, 0.9999999998033839",
    "7, 1",
    "1e-300, 1.1283791670955126e-300"
  })
  void erfIsExactToDoublePrecision(double x, double expected) {
    assertThat(ErrorFunction.erf(x)).isCloseTo(expected, within(4 * Math.ulp(expected)));
  }

  @Test
  void erfOfExtremeValues() {
    assertThat(ErrorFunction.erf(NAN)).isNaN();
    assertThat(ErrorFunction.erf(-INFINITY)).isEqualTo(-1);
    assertThat(ErrorFunction.erf(0)).isZero();
  }

  @Test
  void roundsHalfToEven() {
    assertThat(unary(UnaryFunction.ROUND, vector(F32, 0.5, 1.5, 2.5, -0.5, -1.5)).doubles())
        .containsExactly(0, 2, 2, -0.0, -2);
  }

  @ParameterizedTest
  @CsvSource({
    "GELU, 0.3, 0.18537342665668577",
    "GELU, -2, -0.04550026389635842",
    "GELU_TANH, 0.3, 0.18537092354275922",
    "GELU_TANH, -2, -0.04540230591222494",
    "SILU, 2, 1.7615941559557649",
    "HARD_SWISH, 1.5, 1.125",
    "HARD_SWISH, -4, 0",
    "HARD_SWISH, 5, 5",
    "QUICK_GELU, 2, 1.9356586231442083",
    "SOFTPLUS, 800, 800",
    "SOFTPLUS, -40, 4.248354255291589e-18",
    "ASINH, -1e-9, -1e-9",
    "ASINH, 1e300, 691.4686750787736",
    "ACOSH, 1, 0",
    "ACOSH, 2, 1.3169578969248166",
    "ATANH, -0.5, -0.5493061443340548",
    "SIGMOID, -800, 0",
    "SIGN, -3, -1",
    "RECIPROCAL, 4, 0.25"
  })
  void computesFunctions(UnaryFunction function, double x, double expected) {
    assertThat(unary(function, vector(F64, x)).getDouble(0))
        .isCloseTo(expected, within(4 * Math.ulp(expected)));
  }

  @Test
  void integersKeepTheirTypeAndWrap() {
    assertThat(unary(UnaryFunction.NEG, integers(I8, -128, 5)).longs()).containsExactly(-128, -5);
    assertThat(unary(UnaryFunction.ABS, integers(I4, -8, -3)).longs()).containsExactly(-8, 3);
    assertThat(unary(UnaryFunction.BIT_NOT, integers(U4, 0, 9, 15)).longs())
        .containsExactly(15, 6, 0);
    assertThat(unary(UnaryFunction.SIGN, integers(U64, -1, 0)).longs()).containsExactly(1, 0);
  }

  @Test
  void predicatesAreBoolean() {
    Tensor x = vector(F16, NAN, INFINITY, -INFINITY, 1);
    assertThat(unary(UnaryFunction.IS_NAN, x)).isEqualTo(integers(BOOL, 1, 0, 0, 0));
    assertThat(unary(UnaryFunction.IS_POSITIVE_INFINITY, x)).isEqualTo(integers(BOOL, 0, 1, 0, 0));
    assertThat(unary(UnaryFunction.IS_NEGATIVE_INFINITY, x)).isEqualTo(integers(BOOL, 0, 0, 1, 0));
  }

  @Test
  void narrowFloatsRoundOnce() {
    // 1 + 2^-11 lies halfway between two f16 values, and the even one is 1.
    assertThat(binary(BinaryFunction.ADD, vector(F16, 1), vector(F16, 0x1p-11)).getDouble(0))
        .isEqualTo(1);
    assertThat(binary(BinaryFunction.MUL, vector(BF16, 3), vector(BF16, 0x1.02p0)).getDouble(0))
        .isEqualTo(0x1.84p1);
    assertThat(binary(BinaryFunction.DIV, vector(F32, 1), vector(F32, 3)).floats())
        .containsExactly(1f / 3f);
  }

  @Test
  void minimumAndMaximumPropagateNan() {
    Tensor left = vector(F32, NAN, 1, 1);
    Tensor right = vector(F32, 1, NAN, 2);
    assertThat(binary(BinaryFunction.MIN, left, right).doubles()).containsExactly(NAN, NAN, 1);
    assertThat(binary(BinaryFunction.MAX, left, right).doubles()).containsExactly(NAN, NAN, 2);
  }

  /** Values of NumPy's mod and fmod. */
  @Test
  void remaindersHaveTheSignOfDivisorOrDividend() {
    Tensor left = vector(F32, 5.5, -5.5, -4, -1);
    Tensor right = vector(F32, -2, 2, 2, INFINITY);
    assertThat(binary(BinaryFunction.MOD, left, right).doubles())
        .containsExactly(-0.5, 0.5, 0, INFINITY);
    assertThat(binary(BinaryFunction.REMAINDER, left, right).doubles())
        .containsExactly(1.5, -1.5, -0.0, -1);
    Tensor a = integers(I32, -7, 7, 7);
    Tensor b = integers(I32, 3, -3, 0);
    assertThat(binary(BinaryFunction.MOD, a, b).longs()).containsExactly(2, -2, 0);
    assertThat(binary(BinaryFunction.REMAINDER, a, b).longs()).containsExactly(-1, 1, 0);
    assertThat(binary(BinaryFunction.DIV, a, b).longs()).containsExactly(-2, -2, 0);
  }

  @Test
  void the64BitUnsignedTypeIsUnsigned() {
    Tensor large = integers(U64, -1);
    Tensor small = integers(U64, 2);
    assertThat(binary(BinaryFunction.DIV, large, small).longs()).containsExactly(Long.MAX_VALUE);
    assertThat(binary(BinaryFunction.MOD, large, small).longs()).containsExactly(1);
    assertThat(binary(BinaryFunction.MAX, large, small).longs()).containsExactly(-1);
    assertThat(binary(BinaryFunction.GREATER, large, small).getBoolean(0)).isTrue();
    assertThat(cast(large, F64).getDouble(0)).isEqualTo(0x1p64);
    assertThat(cast(vector(F64, 0x1p63), U64).longs()).containsExactly(Long.MIN_VALUE);
  }

  @Test
  void shiftsBeyondTheWidthLeaveNothing() {
    Tensor x = integers(U8, 0x81, 0x81, 0x81);
    Tensor by = integers(U8, 1, 7, 8);
    assertThat(binary(BinaryFunction.SHIFT_LEFT, x, by).longs()).containsExactly(2, 0x80, 0);
    assertThat(binary(BinaryFunction.SHIFT_RIGHT, x, by).longs()).containsExactly(0x40, 1, 0);
    Tensor negative = integers(I32, -8, -8);
    assertThat(binary(BinaryFunction.SHIFT_RIGHT, negative, integers(I32, 1, 40)).longs())
        .containsExactly(-4, -1);
    assertThat(binary(BinaryFunction.SHIFT_RIGHT, integers(U64, -1), integers(U64, 60)).longs())
        .containsExactly(15);
  }

  @Test
  void powersTakeMixedTypes() {
    assertThat(binary(BinaryFunction.POW, integers(I32, 2, 3, -1), integers(I64, 10, -1, -3)))
        .isEqualTo(integers(I32, 1024, 0, -1));
    assertThat(binary(BinaryFunction.POW, integers(I64, 9, 2), vector(F32, 0.5, 3.5)))
        .isEqualTo(integers(I64, 3, 11));
    assertThat(binary(BinaryFunction.POW, vector(F32, 2, 1), integers(U32, 3, 7)))
        .isEqualTo(vector(F32, 8, 1));
    assertThat(binary(BinaryFunction.POW, vector(F32, 1), vector(F32, NAN)))
        .isEqualTo(vector(F32, 1));
  }

  @Test
  void operandsBroadcast() {
    Tensor column = Tensor.floats(Shape.of(2, 1), 10, 20);
    Tensor row = Tensor.floats(Shape.of(3), 1, 2, 3);
    assertThat(binary(BinaryFunction.SUB, column, row))
        .isEqualTo(Tensor.floats(Shape.of(2, 3), 9, 8, 7, 19, 18, 17));
    Tensor none = Tensor.floats(Shape.of(0, 1));
    assertThat(binary(BinaryFunction.ADD, none, row).shape()).isEqualTo(Shape.of(0, 3));
  }

  /** Compares every broadcast of a rank-4 operand with the definition. */
  @Test
  void everyBroadcastPatternIsCorrect() {
    long[] full = {2, 3, 4, 5};
    Tensor left = Evaluated.random(1, full);
    for (int pattern = 0; pattern < 16; pattern++) {
      long[] extents = full.clone();
      for (int axis = 0; axis < 4; axis++) {
        extents[axis] = (pattern >> axis & 1) == 0 ? full[axis] : 1;
      }
      Tensor right = Evaluated.random(2, extents);
      float[] sums = binary(BinaryFunction.ADD, left, right).floats();
      long[] strides = right.shape().strides();
      for (int i = 0; i < sums.length; i++) {
        int[] index = {i / 60, i / 20 % 3, i / 5 % 4, i % 5};
        int at = 0;
        for (int axis = 0; axis < 4; axis++) {
          at += extents[axis] == 1 ? 0 : (int) (index[axis] * strides[axis]);
        }
        assertThat(sums[i]).isEqualTo(left.floats()[i] + right.floats()[at]);
      }
    }
  }

  @Test
  void selectsByCondition() {
    Tensor condition = Tensor.ofLongs(TensorType.of(BOOL, 2, 1), new long[] {1, 0});
    Elementwise.Select select = new Elementwise.Select();
    assertThat(Evaluated.of(select, condition, integers(I4, -1, 2), integers(I4, 7, -8)).longs())
        .containsExactly(-1, 2, 7, -8);
    assertThat(Evaluated.of(select, condition, vector(F32, 1, 2), vector(F32, 3, 4)).doubles())
        .containsExactly(1, 2, 3, 4);
  }

  @Test
  void castsTruncateWrapAndRound() {
    assertThat(cast(vector(F32, -1.9, 300.7, 2.5), U8).longs()).containsExactly(255, 44, 2);
    assertThat(cast(vector(F32, 0, -0.1, NAN), BOOL).longs()).containsExactly(0, 1, 1);
    assertThat(cast(integers(I32, 200, -1, 256), I8).longs()).containsExactly(-56, -1, 0);
    assertThat(cast(integers(U8, 7, 200), I4).longs()).containsExactly(7, -8);
    assertThat(cast(integers(BOOL, 1, 0), BF16).doubles()).containsExactly(1, 0);
    // Halfway between two floats but for the last bit: a detour by double would round to even.
    long aboveHalf = (1L << 60) + (1L << 36) + 1;
    assertThat(cast(integers(I64, aboveHalf, -aboveHalf), F32).floats())
        .containsExactly((float) aboveHalf, (float) -aboveHalf);
    assertThat(cast(integers(I64, Long.MIN_VALUE), F32).doubles()).containsExactly(-0x1p63);
  }

  @ParameterizedTest
  @EnumSource(ElementType.class)
  void everyTypeAddsOrConcatenates(ElementType element) {
    BinaryFunction function = element == BOOL ? BinaryFunction.OR : BinaryFunction.ADD;
    Tensor ones = Tensor.filled(TensorType.of(element, 3), 1);
    assertThat(binary(function, ones, ones).isFilledWith(element == BOOL ? 1 : 2)).isTrue();
  }
}
