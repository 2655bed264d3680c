package io.partita.backend.java.code;

/** The transformer's operations, except products with weights. */
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
          "scores[j] = scale q * k[j], four keys at a time so that their sums are independent.",
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
          "Turns scores into weights: soft cap, mask, e^(s - max); returns their sum.",
          """
          static double weigh(real[] scores, int at, int from, int to, double softCap, boolean[] chosen, real[] mask, int maskAt, int maskStep) {
            double largest = Double.NEGATIVE_INFINITY;
            for (int j = from; j < to; j++) {
              double score = scores[at + j];
              if (softCap > 0) {
                score = softCap * Math.tanh(score / softCap);
              }
              if (chosen != null && !chosen[maskAt + j * maskStep]) {
                score = Double.NEGATIVE_INFINITY;
              }
              if (mask != null) {
                score += mask[maskAt + j * maskStep];
              }
              scores[at + j] = (real) score;
              largest = Math.max(largest, scores[at + j]);
            }
            if (largest == Double.NEGATIVE_INFINITY) {
              return 0;
            }
            double sum = 0;
            for (int j = from; j < to; j++) {
              double weight = Math.exp(scores[at + j] - largest);
              sum += weight;
              scores[at + j] = (real) weight;
            }
            return sum;
          }
          """);

  /** The keys that a query sees; the queries are the last positions of the keys. */
  static final String SEEN =
      """
              long length = lengths == null ? keys : Math.max(0, Math.min(keys, lengths[b]));
              long position = (lengths == null ? offset : lengths[b] - seq) + query;
              int to = (int) (causal ? Math.max(0, Math.min(length, position + 1)) : length);
              int from = (int) (window > 0 ? Math.min(to, Math.max(0, position + 1 - window)) : 0);
      """;

  private static final String ATTENTION_PARAMETERS =
      "real[] q, real[] k, real[] v, int batch, int heads, int kvHeads, int seq, int keys, int d,"
          + " int dv, double scale, double softCap, boolean causal, long offset, long window,"
          + " boolean[] chosen, real[] mask, int maskBatch, int maskHead, int maskQuery,"
          + " int maskKey, long[] lengths, ";

  static final Kernel ATTENTION =
      Kernel.of(
          "softmax(scale q kT + mask) v for each head; lengths, if given, bound the keys, and the queries are the last of these.",
          """
          void attention(PARAMETERSreal[] scores, real[] y) {
            real[] sum = SUMS[0];
            for (int row = 0; row < batch * heads * seq; row++) {
              int b = row / (heads * seq);
              int head = row / seq % heads;
              int query = row % seq;
              SEEN
              int line = b * kvHeads + head / (heads / kvHeads);
              scores(q, row * d, k, line * keys * d, d, from, to, (real) scale, scores);
              double total = weigh(scores, 0, from, to, softCap, chosen, mask, b * maskBatch + head * maskHead + query * maskQuery, maskKey);
              if (total == 0) {
                Arrays.fill(y, row * dv, row * dv + dv, 0);
                continue;
              }
              for (int column = 0; column < dv; column += 256) {
                int width = Math.min(256, dv - column);
                Arrays.fill(sum, 0, width, 0);
                for (int j = from; j < to; j += 16) {
                  int depth = Math.min(16, to - j);
                  copyTiles(v, (line * keys + j) * dv + column, dv, TILES, depth, width);
                  addProducts(SUMS, 1, TILES, depth, width, scores, j, 0);
                }
                for (int i = 0; i < width; i++) {
                  y[row * dv + column + i] = (real) (sum[i] / total);
                }
              }
            }
          }
          """
              .replace("PARAMETERS", ATTENTION_PARAMETERS)
              .replace("SEEN", SEEN.strip()),
          SCORES,
          WEIGH,
          MatrixKernels.COPY_TILES,
          MatrixKernels.ADD_PRODUCTS);

  /** For many queries: matrix products, with the keys transposed once per head. */
  static final Kernel BLOCK_ATTENTION =
      Kernel.of(
          "softmax(scale q kT + mask) v for each head, 64 queries at a time; lengths, if given, bound the keys, and the queries are the last of these.",
          """
          void blockAttention(PARAMETERSreal[] turned, real[] scores, real[] y) {
            double[] totals = new double[64];
            for (int block = 0; block < batch * heads * ((seq + 63) / 64); block++) {
              int blocks = (seq + 63) / 64;
              int b = block / (heads * blocks);
              int head = block / blocks % heads;
              int first = block % blocks * 64;
              int rows = Math.min(64, seq - first);
              int line = b * kvHeads + head / (heads / kvHeads);
              if (first == 0 && head % (heads / kvHeads) == 0) {
                transpose(k, line * keys * d, keys, d, turned);
              }
              int row = (b * heads + head) * seq + first;
              long filled = lengths == null ? keys : Math.max(0, Math.min(keys, lengths[b]));
              long next = (lengths == null ? offset : lengths[b] - seq) + first + rows;
              int end = (int) (causal ? Math.max(0, Math.min(filled, next)) : filled);
              matmul(q, row * d, d, turned, 0, keys, scores, 0, keys, rows, d, end);
              for (int r = 0; r < rows; r++) {
                int query = first + r;
                SEEN
                int at = r * keys;
                for (int j = from; j < to; j++) {
                  scores[at + j] *= (real) scale;
                }
                totals[r] = weigh(scores, at, from, to, softCap, chosen, mask, b * maskBatch + head * maskHead + query * maskQuery, maskKey);
                Arrays.fill(scores, at, at + (totals[r] == 0 ? end : from), 0);
                Arrays.fill(scores, at + to, at + end, 0);
              }
              matmul(scores, 0, keys, v, line * keys * dv, dv, y, row * dv, dv, rows, end, dv);
              for (int i = 0; i < rows * dv; i++) {
                double total = totals[i / dv];
                y[row * dv + i] = (real) (total == 0 ? 0 : y[row * dv + i] / total);
              }
            }
          }
          """
              .replace("PARAMETERS", ATTENTION_PARAMETERS)
              .replace("SEEN", SEEN.strip()),
          WEIGH,
          MatrixKernels.TRANSPOSE,
          MatrixKernels.MATMUL);

  static final Kernel CACHE_POSITION =
      Kernel.of(
          "Checks that a position is within a cache.",
          """
          static int cachePosition(long position, int capacity) {
            if (position < 0 || position >= capacity) {
              throw new IllegalStateException("position " + position + " is outside the cache of " + capacity);
            }
            return (int) position;
          }
          """);
}
