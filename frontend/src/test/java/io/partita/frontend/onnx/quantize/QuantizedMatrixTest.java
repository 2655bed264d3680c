package io.partita.frontend.onnx.quantize;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.Random;
import org.junit.jupiter.api.Test;

class QuantizedMatrixTest {
  @Test
  void columnsHaveOwnScales() {
    QuantizedMatrix matrix =
        QuantizedMatrix.bytes(new float[] {127, 0, -63.5f, 0, 1, -0.254f}, 3, 2);
    assertThat(matrix.values()).containsExactly(127, 0, -64, 0, 1, -127);
    assertThat(matrix.scales()).containsExactly(1, 0.002f);
    assertThat(matrix.dequantized()).containsExactly(127, 0, -64, 0, 1, -127 * 0.002f);
  }

  @Test
  void aColumnOfZerosStaysZero() {
    assertThat(QuantizedMatrix.bytes(new float[4], 2, 2).dequantized()).containsOnly(0);
  }

  @Test
  void nibblesArePackedWithTheFirstLow() {
    QuantizedMatrix matrix = QuantizedMatrix.nibbles(new float[] {7, -7, -1, 2}, 2, 2, 2);
    assertThat(matrix.values()).containsExactly(7, -7, -1, 2);
    assertThat(matrix.packed()).containsExactly((byte) 0x97, (byte) 0x2f);
  }

  @Test
  void smallerGroupsHaveSmallerErrors() {
    Random random = new Random(1);
    float[] matrix = new float[64 * 8];
    for (int i = 0; i < matrix.length; i++) {
      matrix[i] = (float) random.nextGaussian();
    }
    double last = 0;
    for (int group : new int[] {4, 16, 64}) {
      float[] coded = QuantizedMatrix.nibbles(matrix, 64, 8, group).dequantized();
      double error = 0;
      for (int i = 0; i < matrix.length; i++) {
        error += Math.pow(coded[i] - matrix[i], 2) / matrix.length;
      }
      assertThat(error).isGreaterThan(last).isLessThan(0.03);
      last = error;
    }
  }

  @Test
  void zeroIsExactInEveryCode() {
    for (double[] range : new double[][] {{-1, 3}, {2, 3}, {-5, -4}, {0, 1e-3}}) {
      Affine code = Affine.of(range[0], range[1]);
      assertThat(code.rounded(0)).isZero();
      for (double x : range) {
        assertThat(code.rounded(x)).isEqualTo(x, within(code.scale() / 2 + 1e-7));
      }
    }
  }
}
