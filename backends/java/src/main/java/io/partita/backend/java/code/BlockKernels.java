package io.partita.backend.java.code;

/** The transformer's own operations but for products with weights. */
final class BlockKernels {
  private BlockKernels() {}

  static final Kernel NORM =
      Kernel.of(
          "y = (x - mean) / sqrt(variance + epsilon) * scale + bias over rows of n; without centring, x / sqrt(mean square + epsilon).",
          """
          static void norm(real[] x, int rows, int n, boolean centred, double epsilon, real[] scale, real[] bias, real[] y) {
            for (int row = 0; row < rows; row++) {
              int at = row * n;
              double sum = 0;
              for (int i = 0; i < n; i++) {
                sum += x[at + i];
              }
              double mean = centred ? sum / n : 0;
              double squares = 0;
              for (int i = 0; i < n; i++) {
                double d = x[at + i] - mean;
                squares += d * d;
              }
              double factor = 1 / Math.sqrt(squares / n + epsilon);
              for (int i = 0; i < n; i++) {
                double value = (x[at + i] - mean) * factor;
                if (scale != null) {
                  value *= scale[i];
                }
                if (bias != null) {
                  value += bias[i];
                }
                y[at + i] = (real) value;
              }
            }
          }
          """);

  static final Kernel SOFTMAX =
      Kernel.of(
          "e^(x - max) / sum e^(x - max) along the middle axis of [outer, extent, inner], or its logarithm.",
          """
          static void softmax(real[] x, int outer, int extent, int inner, boolean logarithm, real[] y) {
            for (int line = 0; line < outer * inner; line++) {
              int at = line / inner * extent * inner + line % inner;
              int end = at + extent * inner;
              double largest = Double.NEGATIVE_INFINITY;
              for (int i = at; i < end; i += inner) {
                largest = Math.max(largest, x[i]);
              }
              double sum = 0;
              for (int i = at; i < end; i += inner) {
                double exponential = Math.exp(x[i] - largest);
                sum += exponential;
                y[i] = (real) exponential;
              }
              double logarithmOfSum = Math.log(sum);
              for (int i = at; i < end; i += inner) {
                y[i] = (real) (logarithm ? x[i] - largest - logarithmOfSum : y[i] / sum);
              }
            }
          }
          """);

  static final Kernel ROTARY =
      Kernel.of(
          "Rotates pairs of features by position: (a, b) -> (a c - b s, b c + a s).",
          """
          static void rotary(real[] x, int batch, int heads, int seq, int d, real[] cosines, real[] sines, int cosineBatch, int pairs, boolean interleaved, real[] y) {
            int step = interleaved ? 2 : 1;
            int distance = interleaved ? 1 : pairs;
            for (int row = 0; row < batch * heads * seq; row++) {
              int at = row * d;
              int angle = (row / (heads * seq) % cosineBatch * seq + row % seq) * pairs;
              for (int i = 0; i < pairs; i++) {
                real a = x[at + i * step];
                real b = x[at + i * step + distance];
                real c = cosines[angle + i];
                real s = sines[angle + i];
                y[at + i * step] = a * c - b * s;
                y[at + i * step + distance] = b * c + a * s;
              }
              System.arraycopy(x, at + 2 * pairs, y, at + 2 * pairs, d - 2 * pairs);
            }
          }
          """);

  private static final Kernel SCORES =
      Kernel.of(
          "scores[j] = scale q * k[j], four keys at a time so that their sums don't wait for each other.",
          """
          static void scores(real[] q, int qAt, real[] k, int kAt, int d, int from, int to, real scale, real[] scores) {
            int j = from;
            for (; j + 4 <= to; j += 4) {
              int k0 = kAt + j * d;
              int k1 = k0 + d;
              int k2 = k1 + d;
              int k3 = k2 + d;
              real s0 = 0;
              real s1 = 0;
              real s2 = 0;
              real s3 = 0;
              for (int i = 0; i < d; i++) {
                real x = q[qAt + i];
                s0 += x * k[k0 + i];
                s1 += x * k[k1 + i];
                s2 += x * k[k2 + i];
                s3 += x * k[k3 + i];
              }
              scores[j] = scale * s0;
              scores[j + 1] = scale * s1;
              scores[j + 2] = scale * s2;
              scores[j + 3] = scale * s3;
            }
            for (; j < to; j++) {
              real s0 = 0;
              for (int i = 0; i < d; i++) {
                s0 += q[qAt + i] * k[kAt + j * d + i];
              }
              scores[j] = scale * s0;
            }
          }
          """);

  private static final Kernel WEIGH =
      Kernel.of(
          "Makes weights of scores: soft cap, mask, e^(s - max); returns their sum.",
          """
          static double weigh(real[] scores, int from, int to, double softCap, boolean[] chosen, real[] mask, int maskAt, int maskStep) {
            double largest = Double.NEGATIVE_INFINITY;
            for (int j = from; j < to; j++) {
              double score = scores[j];
              if (softCap > 0) {
                score = softCap * Math.tanh(score / softCap);
              }
              if (chosen != null && !chosen[maskAt + j * maskStep]) {
                score = Double.NEGATIVE_INFINITY;
              }
              if (mask != null) {
                score += mask[maskAt + j * maskStep];
              }
              scores[j] = (real) score;
              largest = Math.max(largest, scores[j]);
            }
            if (largest == Double.NEGATIVE_INFINITY) {
              return 0;
            }
            double sum = 0;
            for (int j = from; j < to; j++) {
              double weight = Math.exp(scores[j] - largest);
              sum += weight;
              scores[j] = (real) weight;
            }
            return sum;
          }
          """);

  static final Kernel ATTENTION =
      Kernel.of(
          "softmax(scale q kT + mask) v for each head; lengths, where given, bound the keys and place the queries at their end.",
          """
          void attention(real[] q, real[] k, real[] v, int batch, int heads, int kvHeads, int seq, int keys, int d, int dv, double scale, double softCap, boolean causal, long offset, long window, boolean[] chosen, real[] mask, int maskBatch, int maskHead, int maskQuery, int maskKey, long[] lengths, real[] scores, real[] y) {
            real[] sum = SUMS[0];
            for (int row = 0; row < batch * heads * seq; row++) {
              int b = row / (heads * seq);
              int head = row / seq % heads;
              int query = row % seq;
              long length = lengths == null ? keys : Math.max(0, Math.min(keys, lengths[b]));
              long position = (lengths == null ? offset : lengths[b] - seq) + query;
              int to = (int) (causal ? Math.max(0, Math.min(length, position + 1)) : length);
              int from = (int) (window > 0 ? Math.min(to, Math.max(0, position + 1 - window)) : 0);
              int line = b * kvHeads + head / (heads / kvHeads);
              scores(q, row * d, k, line * keys * d, d, from, to, (real) scale, scores);
              double total = weigh(scores, from, to, softCap, chosen, mask, b * maskBatch + head * maskHead + query * maskQuery, maskKey);
              if (total == 0) {
                Arrays.fill(y, row * dv, row * dv + dv, 0);
                continue;
              }
              for (int column = 0; column < dv; column += 256) {
                int width = Math.min(256, dv - column);
                Arrays.fill(sum, 0, width, 0);
                for (int j = from; j < to; j += 4) {
                  int depth = Math.min(4, to - j);
                  for (int i = 0; i < depth; i++) {
                    System.arraycopy(v, (line * keys + j + i) * dv + column, TILE, i * width, width);
                  }
                  addNarrowRows(sum, TILE, width, scores, j, depth);
                }
                for (int i = 0; i < width; i++) {
                  y[row * dv + column + i] = (real) (sum[i] / total);
                }
              }
            }
          }
          """,
          SCORES,
          WEIGH,
          MatrixKernels.ADD_NARROW_ROWS);

  static final Kernel CACHE_POSITION =
      Kernel.of(
          "A position in a cache, which must have room for it.",
          """
          static int cachePosition(long position, int capacity) {
            if (position < 0 || position >= capacity) {
              throw new IllegalStateException("position " + position + " is outside the cache of " + capacity);
            }
            return (int) position;
          }
          """);
}
