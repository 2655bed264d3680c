package io.partita.ir.eval;

import static io.partita.ir.eval.Evaluated.integers;
import static io.partita.ir.type.ElementType.F32;
import static io.partita.ir.type.ElementType.I32;
import static io.partita.ir.type.ElementType.I8;
import static io.partita.ir.type.ElementType.U8;
import static org.assertj.core.api.Assertions.assertThat;

import io.partita.ir.op.IntegerNetwork;
import io.partita.ir.op.Structured.NormKind;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.TensorType;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/** The expected values are worked out by hand from the formulas. */
class IntegerNetworkKernelsTest {
  @Test
  void requantizesHalfUpAndClamps() {
    Tensor x = integers(I32, 1, 3, -1, -3, 1000);
    Tensor one = integers(I32, 1);
    Tensor zero = integers(I32, 0);
    assertThat(Evaluated.of(new IntegerNetwork.Requantize(1, -128, 127, I8), x, one, zero))
        .isEqualTo(integers(I8, 1, 2, 0, -1, 127));
    Tensor multiplier = integers(I32, 1, 2, 3, 4, 5);
    assertThat(Evaluated.of(new IntegerNetwork.Requantize(0, 0, 255, U8), x, multiplier, one))
        .isEqualTo(integers(U8, 2, 7, 0, 0, 255));
  }

  @Test
  void integerSoftmaxShiftsAParabola() {
    // t = 0 and -5: z = 0 and 1, p = 0 and -1; y = (0+4)² and (-1+4)² >> 1.
    Tensor x = integers(I32, 10, 5);
    assertThat(Evaluated.of(new IntegerNetwork.IntegerSoftmax(1, 4, 0, 4, 256), x).longs())
        .containsExactly(16 * 255 / 20, 4 * 255 / 20);
  }

  @Test
  void lookupBeginsWithTheLeastByte() {
    long[] entries = LongStream.range(0, 256).map(i -> 255 - i).toArray();
    Tensor table = integers(U8, entries);
    assertThat(Evaluated.of(new IntegerNetwork.Lookup(), integers(I8, -128, 0, 127), table))
        .isEqualTo(integers(U8, 255, 127, 0));
    assertThat(Evaluated.of(new IntegerNetwork.Lookup(), integers(U8, 0, 1, 255), table))
        .isEqualTo(integers(U8, 255, 254, 0));
    Tensor floats = Tensor.filled(TensorType.of(F32, 256), 0.5);
    assertThat(Evaluated.of(new IntegerNetwork.Lookup(), integers(I8, -127, 0), floats).floats())
        .containsExactly(0.5f, 0.5f);
  }

  @Test
  void powerSoftmaxHalves() {
    // unit = 8 - 3 = 5: a distance of 32 halves, one of 16 is rounded up to it.
    Tensor x = integers(I8, 100, 68, 84);
    assertThat(Evaluated.of(new IntegerNetwork.PowerSoftmax(256, 0), x).longs())
        .containsExactly(255 * 256 / 512, 255 * 256 / 512 / 2, 255 * 256 / 512 / 2);
    // Groups of one: 256; then the maximum rises by 32: 128 + 256; then 384 + 128.
    Tensor rising = integers(I8, 68, 100, 84);
    assertThat(Evaluated.of(new IntegerNetwork.PowerSoftmax(256, 1), rising).longs())
        .containsExactly(127 * 256 / 512 / 2, 127 * 256 / 512, 127 * 256 / 512 / 2);
  }

  @Test
  void integerNormsDivideByTheRoot() {
    Tensor x = integers(I8, 1, 3, -7, 3);
    Tensor weight = integers(I32, 16);
    // The mean is 0, the mean of squares 17, the root of 18 is 4.
    assertThat(
            Evaluated.of(
                    new IntegerNetwork.IntegerNorm(NormKind.LAYER, 1, -10, 127),
                    x,
                    weight,
                    integers(I32, 1))
                .longs())
        .containsExactly(5 >> 1, 13 >> 1, -10, 13 >> 1);
    assertThat(
            Evaluated.of(new IntegerNetwork.IntegerNorm(NormKind.RMS, 0, -128, 127), x, weight)
                .longs())
        .containsExactly(4, 12, -28, 12);
  }

  @Test
  void integerGeluIsAParabola() {
    // inside = min(|x|, 4) - 4, error = sign(x) (20 - inside²).
    Tensor x = integers(I32, 3, -3, 9, 0);
    assertThat(Evaluated.of(new IntegerNetwork.IntegerGelu(-4, 20), x).longs())
        .containsExactly(3 * (39 / 2), -3 * (1 / 2), 9 * 20, 0);
  }
}
