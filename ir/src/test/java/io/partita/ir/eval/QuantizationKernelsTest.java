package io.partita.ir.eval;

import static io.partita.ir.eval.Evaluated.integers;
import static io.partita.ir.eval.Evaluated.vector;
import static io.partita.ir.type.ElementType.F32;
import static io.partita.ir.type.ElementType.I4;
import static io.partita.ir.type.ElementType.I8;
import static io.partita.ir.type.ElementType.U8;
import static org.assertj.core.api.Assertions.assertThat;

import io.partita.ir.op.Quantized;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;
import org.junit.jupiter.api.Test;

class QuantizationKernelsTest {
  @Test
  void quantizesHalfToEvenAndSaturates() {
    Tensor x = vector(F32, 1, 3, 5, -1000, 1000);
    Tensor scale = Tensor.scalar(F32, 2);
    assertThat(
            Evaluated.of(new Quantized.Quantize(0, 0, U8), x, scale, Tensor.scalar(U8, 128))
                .longs())
        .containsExactly(128, 130, 130, 0, 255);
    assertThat(
            Evaluated.of(new Quantized.Quantize(0, 0, I4), x, scale, Tensor.scalar(I4, 0)).longs())
        .containsExactly(0, 2, 2, -8, 7);
  }

  @Test
  void nanQuantizesToTheSmallestNumber() {
    Tensor x = vector(F32, Double.NaN, Double.POSITIVE_INFINITY, Double.NEGATIVE_INFINITY);
    Tensor scale = Tensor.scalar(F32, 2);
    assertThat(
            Evaluated.of(new Quantized.Quantize(0, 0, I8), x, scale, Tensor.scalar(I8, 3)).longs())
        .containsExactly(-128, 127, -128);
    assertThat(
            Evaluated.of(new Quantized.Quantize(0, 0, U8), x, scale, Tensor.scalar(U8, 3)).longs())
        .containsExactly(0, 255, 0);
  }

  @Test
  void scalesFollowAnAxisOrBlocks() {
    Tensor q = Tensor.ofLongs(TensorType.of(I8, 2, 3), new long[] {1, 2, 3, 4, 5, 6});
    Tensor zero = integers(I8, 0, 1);
    assertThat(
            Evaluated.of(new Quantized.Dequantize(0, 0, F32), q, vector(F32, 10, 100), zero)
                .floats())
        .containsExactly(10, 20, 30, 300, 400, 500);
    Tensor blocks = Tensor.floats(Shape.of(2, 2), 1, 10, 100, 1000);
    Tensor zeros = Tensor.filled(TensorType.of(I8, 2, 2), 0);
    assertThat(Evaluated.of(new Quantized.Dequantize(1, 2, F32), q, blocks, zeros).floats())
        .containsExactly(1, 2, 30, 400, 500, 6000);
  }

  /** The difference of two i32 is exact before it is rounded to f32. */
  @Test
  void differencesDoNotWrap() {
    Tensor q = integers(ElementType.I32, Integer.MAX_VALUE);
    Tensor zero = Tensor.scalar(ElementType.I32, Integer.MIN_VALUE);
    assertThat(
            Evaluated.of(new Quantized.Dequantize(0, 0, F32), q, Tensor.scalar(F32, 1), zero)
                .floats())
        .containsExactly(0x1p32f);
  }
}
