package io.partita.backend.java.code;

import io.partita.ir.op.IntegerAttention;

/** Attention of integers, as {@link IntegerAttention} defines it. */
final class IntegerAttentionKernel {
  private static final Kernel WEIGHT =
      Kernel.of(
          "%d times a power of two, rounded, for a score that is below the largest."
              .formatted(IntegerAttention.LARGEST_WEIGHT),
          """
          static int weight(int below, float unit) {
            float exponent = below * unit;
            if (exponent >= 65536) {
              return 0;
            }
            int whole = (int) exponent >> FRACTION;
            int x = (int) exponent & ((1 << FRACTION) - 1);
            int power = QUADRATIC - ((x * CUBIC) >> FRACTION);
            power = LINEAR - ((x * power) >> FRACTION);
            power = LARGEST - ((x * power) >> FRACTION);
            return (power + ((1 << (POWER - 1)) << whole)) >> (POWER + whole);
          }
          """
              .replace("FRACTION", String.valueOf(IntegerAttention.FRACTION))
              .replace("QUADRATIC", String.valueOf(IntegerAttention.QUADRATIC))
              .replace("CUBIC", String.valueOf(IntegerAttention.CUBIC))
              .replace("LINEAR", String.valueOf(IntegerAttention.LINEAR))
              .replace(
                  "LARGEST",
                  String.valueOf(IntegerAttention.LARGEST_WEIGHT << IntegerAttention.POWER))
              .replace("POWER", String.valueOf(IntegerAttention.POWER)));

  static final Kernel ATTENTION =
      Kernel.of(
          "softmax(q kT + mask) v of integers for each head, with weights of 8 bits; lengths, if given, bound the keys, and the queries are the last of these.",
          """
          static void integerAttention(byte[] q, byte[] k, byte[] v, int batch, int heads, int kvHeads, int seq, int keys, int d, int dv, float inverseScale, float unit, float valueScale, boolean causal, long offset, long window, boolean[] chosen, float[] mask, int maskBatch, int maskHead, int maskQuery, int maskKey, long[] lengths, int[] scores, int[] sums, float[] y) {
            for (int row = 0; row < batch * heads * seq; row++) {
              int b = row / (heads * seq);
              int head = row / seq % heads;
              int query = row % seq;
              SEEN
              int line = (b * kvHeads + head / (heads / kvHeads)) * keys;
              int largest = Integer.MIN_VALUE;
              for (int j = from; j < to; j++) {
                int maskAt = b * maskBatch + head * maskHead + query * maskQuery + j * maskKey;
                if (chosen != null && !chosen[maskAt] || mask != null && mask[maskAt] == Float.NEGATIVE_INFINITY) {
                  scores[j] = Integer.MIN_VALUE;
                  continue;
                }
                int score = mask == null ? 0 : (int) Math.clamp(Math.rint(mask[maskAt] * inverseScale), -LARGEST, LARGEST);
                for (int i = 0; i < d; i++) {
                  score += q[row * d + i] * k[(line + j) * d + i];
                }
                scores[j] = score;
                largest = Math.max(largest, score);
              }
              int total = 0;
              Arrays.fill(sums, 0, dv, 0);
              for (int j = from; j < to; j++) {
                int weight = scores[j] == Integer.MIN_VALUE ? 0 : weight(largest - scores[j], unit);
                total += weight;
                for (int i = 0; i < dv && weight != 0; i++) {
                  sums[i] += weight * v[(line + j) * dv + i];
                }
              }
              float scale = total == 0 ? 0 : valueScale / total;
              for (int i = 0; i < dv; i++) {
                y[row * dv + i] = sums[i] * scale;
              }
            }
          }
          """
              .replace("SEEN", BlockKernels.SEEN.strip())
              .replace("LARGEST", String.valueOf(IntegerAttention.LARGEST_MASK)),
          WEIGHT);

  private IntegerAttentionKernel() {}
}
