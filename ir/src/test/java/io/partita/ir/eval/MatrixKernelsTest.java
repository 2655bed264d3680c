package io.partita.ir.eval;

import static io.partita.ir.eval.Evaluated.random;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.partita.ir.function.BinaryFunction;
import io.partita.ir.function.UnaryFunction;
import io.partita.ir.op.Contraction;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Structured;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;
import java.util.List;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class MatrixKernelsTest {
  private static final Contraction.MatMul F32 = new Contraction.MatMul(ElementType.F32);

  /** Computes the definition with each sum in order in f32. */
  private static float[] naive(float[] left, float[] right, int m, int k, int n) {
    float[] out = new float[m * n];
    for (int i = 0; i < m; i++) {
      for (int j = 0; j < n; j++) {
        for (int l = 0; l < k; l++) {
          out[i * n + j] += left[i * k + l] * right[l * n + j];
        }
      }
    }
    return out;
  }

  @Property(tries = 60)
  void resultsAreIndependentOfBlocks(
      @ForAll @IntRange(max = 140) int m,
      @ForAll @IntRange(max = 300) int k,
      @ForAll @IntRange(max = 270) int n,
      @ForAll long seed) {
    Tensor left = random(seed, m, k);
    Tensor right = random(seed + 1, k, n);
    float[] expected = naive(left.floats(), right.floats(), m, k, n);
    assertThat(Evaluated.of(F32, left, right).floats()).isEqualTo(expected);
    Tensor turned = Evaluated.of(new Movement.Transpose(List.of(1, 0)), right);
    assertThat(Evaluated.of(new Structured.Linear(true, false), left, turned).floats())
        .isEqualTo(expected);
  }

  /** Each of k products and k sums is off by at most 2^-24 of a partial sum of at most k. */
  @Property(tries = 30)
  void sumsAreCloseToDoublePrecision(
      @ForAll @IntRange(min = 1, max = 9) int m,
      @ForAll @IntRange(max = 600) int k,
      @ForAll @IntRange(min = 1, max = 33) int n,
      @ForAll long seed) {
    Tensor left = random(seed, m, k);
    Tensor right = random(seed + 1, k, n);
    float[] found = Evaluated.of(F32, left, right).floats();
    double bound = 2.0 * k * k * 0x1p-24;
    for (int i = 0; i < m * n; i++) {
      double sum = 0;
      for (int l = 0; l < k; l++) {
        sum += (double) left.floats()[i / n * k + l] * right.floats()[l * n + i % n];
      }
      assertThat((double) found[i]).isCloseTo(sum, within(bound));
    }
  }

  @Test
  void batchesBroadcast() {
    Tensor left = random(1, 2, 1, 3, 4);
    Tensor right = random(2, 5, 4, 2);
    float[] found = Evaluated.of(F32, left, right).floats();
    for (int batch = 0; batch < 10; batch++) {
      Tensor x = cut(left, batch / 5, 3, 4);
      Tensor y = cut(right, batch % 5, 4, 2);
      float[] part = java.util.Arrays.copyOfRange(found, batch * 6, batch * 6 + 6);
      assertThat(part).isEqualTo(naive(x.floats(), y.floats(), 3, 4, 2));
    }
    Tensor one = random(3, 1, 4, 2);
    Tensor many = Evaluated.of(F32, random(4, 3, 2, 4), one);
    assertThat(many.floats()).isEqualTo(naive(random(4, 3, 2, 4).floats(), one.floats(), 6, 4, 2));
  }

  private static Tensor cut(Tensor x, int batch, int rows, int columns) {
    int size = rows * columns;
    return Tensor.floats(
        Shape.of(rows, columns),
        java.util.Arrays.copyOfRange(x.floats(), batch * size, (batch + 1) * size));
  }

  @Test
  void emptySumsAreZero() {
    assertThat(Evaluated.of(F32, random(1, 2, 0), random(1, 0, 2)).floats())
        .containsExactly(0, 0, 0, 0);
    assertThat(Evaluated.of(F32, random(1, 0, 2), random(1, 2, 2)).size()).isZero();
  }

  @ParameterizedTest
  @EnumSource(ElementType.class)
  void everyNumericTypeMultiplies(ElementType element) {
    if (element == ElementType.BOOL) {
      return;
    }
    Tensor left = Tensor.filled(TensorType.of(element, 2, 3), 1);
    Tensor right = Tensor.filled(TensorType.of(element, 3, 2), 2);
    Tensor product = Evaluated.of(new Contraction.MatMul(element), left, right);
    // I4 wraps from 6, which it holds, so that each type gives 6.
    assertThat(product.isFilledWith(6)).isTrue();
    assertThat(product.element()).isEqualTo(element);
  }

  @Test
  void integerSumsHaveTheResultType() {
    Tensor left = Tensor.ofLongs(TensorType.of(ElementType.U8, 1, 2), new long[] {255, 255});
    Tensor right = Tensor.ofLongs(TensorType.of(ElementType.I8, 2, 1), new long[] {-128, -128});
    assertThat(Evaluated.of(new Contraction.MatMul(ElementType.I32), left, right).longs())
        .containsExactly(-65280);
    assertThat(Evaluated.of(new Contraction.MatMul(ElementType.I8), left, right).longs())
        .containsExactly(0);
    Tensor wide = Tensor.longs(Shape.of(1, 1), 1L << 40);
    assertThat(Evaluated.of(new Contraction.MatMul(ElementType.I64), wide, wide).longs())
        .containsExactly(0);
  }

  @Test
  void linearLayersAddTheBiasLast() {
    Tensor x = Tensor.floats(Shape.of(2, 1, 2), 1, 2, 3, 4);
    Tensor weight = Tensor.floats(Shape.of(2, 3), 1, 0, 1, 0, 1, 1);
    Tensor bias = Tensor.floats(Shape.of(3), 10, 20, 30);
    assertThat(Evaluated.of(new Structured.Linear(false, true), x, weight, bias))
        .isEqualTo(Tensor.floats(Shape.of(2, 1, 3), 11, 22, 33, 13, 24, 37));
  }

  @Test
  void aGatedFfnIsItsComposition() {
    Tensor x = random(1, 3, 4);
    Tensor gate = random(2, 4, 6);
    Tensor gateBias = random(3, 6);
    Tensor up = random(4, 4, 6);
    Tensor down = random(5, 6, 4);
    Tensor downBias = random(6, 4);
    Structured.Ffn ffn = new Structured.Ffn(UnaryFunction.SILU, true, true, false, true);
    Tensor gated = Evaluated.of(new Structured.Linear(false, true), x, gate, gateBias);
    Tensor hidden =
        Evaluated.of(
            new Elementwise.Binary(BinaryFunction.MUL),
            Evaluated.of(new Elementwise.Unary(UnaryFunction.SILU), gated),
            Evaluated.of(new Structured.Linear(false, false), x, up));
    assertThat(Evaluated.of(ffn, x, gate, gateBias, up, down, downBias))
        .isEqualTo(Evaluated.of(new Structured.Linear(false, true), hidden, down, downBias));
    Structured.Ffn plain = new Structured.Ffn(UnaryFunction.RELU, false, false, true, false);
    Tensor inner =
        Evaluated.of(
            new Elementwise.Unary(UnaryFunction.RELU),
            Evaluated.of(new Structured.Linear(false, true), x, gate, gateBias));
    assertThat(Evaluated.of(plain, x, gate, gateBias, down))
        .isEqualTo(Evaluated.of(new Structured.Linear(false, false), inner, down));
  }

  @Test
  void patchesAreConvolutionsWithoutOverlap() {
    Tensor image = random(1, 2, 3, 4, 6);
    Tensor weight = random(2, 5, 3, 2, 3);
    Tensor bias = random(3, 5);
    io.partita.ir.op.Window window =
        new io.partita.ir.op.Window(
            List.of(2L, 3L), List.of(2L, 3L), List.of(1L, 1L), List.of(0L, 0L), List.of(0L, 0L));
    Tensor convolved =
        Evaluated.of(
            new Contraction.Convolution(window, 1, true, ElementType.F32), image, weight, bias);
    Tensor rows =
        Evaluated.of(
            new Movement.Transpose(List.of(0, 2, 1)), convolved.reshaped(Shape.of(2, 5, 4)));
    assertThat(Evaluated.of(new Structured.PatchEmbedding(true), image, weight, bias))
        .isEqualTo(rows);
  }

  @Test
  void einsumFollowsItsEquation() {
    Tensor x = random(1, 2, 3, 4);
    Tensor y = random(2, 2, 4, 5);
    assertThat(Evaluated.of(new Contraction.Einsum("bij,bjk->bik"), x, y))
        .isEqualTo(Evaluated.of(F32, x, y));
    Tensor turned = Evaluated.of(new Contraction.Einsum("bij,bjk->kbi"), x, y);
    assertThat(turned)
        .isEqualTo(Evaluated.of(new Movement.Transpose(List.of(2, 0, 1)), Evaluated.of(F32, x, y)));
    Tensor square = Tensor.floats(Shape.of(2, 2), 1, 2, 3, 4);
    assertThat(Evaluated.of(new Contraction.Einsum("ii->i"), square).floats())
        .containsExactly(1, 4);
    assertThat(Evaluated.of(new Contraction.Einsum("ii->"), square).floats()).containsExactly(5);
    assertThat(
            Evaluated.of(new Contraction.Einsum("ij,k->i"), square, square.reshaped(Shape.of(4)))
                .floats())
        .containsExactly(30, 70);
    Tensor longs = Tensor.longs(Shape.of(2), 3, 4);
    assertThat(Evaluated.of(new Contraction.Einsum("a,b,a->ba"), longs, longs, longs).longs())
        .containsExactly(27, 48, 36, 64);
  }
}
