package io.partita.ir.tensor;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class BlockFloatTest {
  /** The elements that ttnn 0.81.1 has for these after a conversion to bfloat8_b. */
  @Test
  void blocksAreRoundedAsTtnnRoundsThem() {
    float[] row = {
      1.9999f,
      1.99f,
      1,
      0.5f,
      -0.0078125f,
      0.0078125f,
      0.0234375f,
      0.0390625f,
      0,
      1e-9f,
      -1.5f,
      0.0234375f,
      0.0390625f,
      1.0078125f,
      1.0234375f,
      -1.0078125f
    };
    BlockFloat.round(row);
    assertThat(row)
        .containsExactly(
            1.984375f, 1.984375f, 1, 0.5f, 0, 0, 0.03125f, 0.03125f, 0, 0, -1.5f, 0.03125f,
            0.03125f, 1, 1.03125f, -1);
  }

  /** Each block of a row has an exponent of its own, the last one with fewer elements too. */
  @Test
  void blocksAreIndependent() {
    float[] row = new float[35];
    Arrays.fill(row, 0, 16, 64);
    Arrays.fill(row, 16, 32, 0.3f);
    Arrays.fill(row, 32, 35, 3e-39f);
    row[33] = 0;
    BlockFloat.round(row);
    assertThat(row[15]).isEqualTo(64);
    // 0.3 is 76.8 steps of 2^-8.
    assertThat(row[16]).isEqualTo(77 / 256f);
    // The smallest numbers have no exponent.
    assertThat(row[34]).isZero();
    float[] again = row.clone();
    BlockFloat.round(again);
    assertThat(again).isEqualTo(row);
  }

  /** The exponent of f32, then signs and magnitudes; the second block is of zeros. */
  @Test
  void blocksHaveAnExponentAndSignedMagnitudes() {
    float[] row = new float[18];
    row[0] = 1;
    row[1] = -0.5f;
    row[15] = 1.984375f;
    byte[] bytes = new byte[36];
    BlockFloat.encode(row, bytes, 1);
    byte[] expected = new byte[36];
    expected[1] = 127;
    expected[2] = 64;
    expected[3] = (byte) (0x80 | 32);
    expected[17] = 127;
    assertThat(bytes).isEqualTo(expected);
    assertThat(BlockFloat.bytes(18)).isEqualTo(34);
    assertThat(BlockFloat.rowElements(18)).isEqualTo(32);
  }

  @Test
  void decodedBlocksAreTheRoundedElements() {
    SplittableRandom random = new SplittableRandom(3);
    for (int count = 1; count < 100; count++) {
      float[] row = new float[count];
      for (int i = 0; i < count; i++) {
        int exponent = random.nextInt(Float.MIN_EXPONENT - 2, Float.MAX_EXPONENT);
        row[i] = Math.scalb((float) random.nextDouble(-2, 2), count % 3 == 0 ? exponent : count);
      }
      byte[] bytes = new byte[Math.toIntExact(BlockFloat.bytes(count))];
      BlockFloat.encode(row, bytes, 0);
      double[] decoded = new double[count];
      BlockFloat.decode(bytes, 0, decoded, 0, count);
      BlockFloat.round(row);
      for (int i = 0; i < count; i++) {
        assertThat((float) decoded[i]).isEqualTo(row[i]);
      }
    }
  }
}
