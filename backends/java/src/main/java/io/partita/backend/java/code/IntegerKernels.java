package io.partita.backend.java.code;

/** The operations of integer-only networks, on rows of 64-bit integers. */
final class IntegerKernels {
  private IntegerKernels() {}

  static final Kernel CLAMP =
      Kernel.of(
          "The nearest number from low to high.",
          """
          static long clamp(long value, long low, long high) {
            return Math.max(low, Math.min(high, value));
          }
          """);

  private static final Kernel SHIFT =
      Kernel.of(
          "An arithmetic shift by any amount.",
          """
          static long shifted(long value, long distance) {
            return value >> Math.min(distance, 63);
          }
          """);

  private static final Kernel LARGEST =
      Kernel.of(
          "The largest number of a part of a row.",
          """
          static long largest(long[] row, int from, int to) {
            long largest = row[from];
            for (int i = from + 1; i < to; i++) {
              largest = Math.max(largest, row[i]);
            }
            return largest;
          }
          """);

  static final Kernel INTEGER_SOFTMAX =
      Kernel.of(
          "Softmax in place, with a parabola as the exponential (I-BERT).",
          """
          static void integerSoftmax(long[] row, int n, long a, long b, long c, long log2, long levels) {
            long largest = largest(row, 0, n);
            long sum = 0;
            for (int i = 0; i < n; i++) {
              long t = row[i] - largest;
              long z = Math.floorDiv(-t, log2);
              long p = t + z * log2;
              row[i] = shifted(a * (p + b) * (p + b) + c, z);
              sum += row[i];
            }
            for (int i = 0; i < n; i++) {
              long level = sum == 0 ? 0 : Math.floorDiv(row[i] * (levels - 1), sum);
              row[i] = clamp(level, 0, levels - 1);
            }
          }
          """,
          LARGEST,
          SHIFT,
          CLAMP);

  static final Kernel POWER_SOFTMAX =
      Kernel.of(
          "Softmax in place, with powers of two; maximum and sum run over groups.",
          """
          static void powerSoftmax(long[] row, int n, long levels, int group, int unit, long top) {
            long half = (1L << unit) / 2;
            long largest = 0;
            long sum = 0;
            for (int from = 0; from < n; from += group) {
              int to = Math.min(n, from + group);
              long found = largest(row, from, to);
              long before = largest;
              largest = from == 0 ? found : Math.max(before, found);
              if (from > 0) {
                sum = shifted(sum, largest - before + half >> unit);
              }
              for (int i = from; i < to; i++) {
                sum += shifted(levels, largest - row[i] + half >> unit);
              }
            }
            long inverse = sum == 0 ? 0 : Math.floorDiv(top * levels, sum);
            for (int i = 0; i < n; i++) {
              row[i] = shifted(inverse, largest - row[i] + half >> unit);
            }
          }
          """,
          LARGEST,
          SHIFT);

  private static final Kernel ROOT =
      Kernel.of(
          "The floor of a square root.",
          """
          static long squareRoot(long square) {
            long root = (long) Math.sqrt((double) square);
            while (root * root > square) {
              root--;
            }
            while ((root + 1) * (root + 1) <= square) {
              root++;
            }
            return root;
          }
          """);

  static final Kernel INTEGER_NORM =
      Kernel.of(
          "Subtracts the mean, if centred, and divides by the root of the mean square, in place.",
          """
          static void integerNorm(long[] row, int n, boolean centred, long[] weight, long[] bias, int shift, long low, long high) {
            long mean = 0;
            if (centred) {
              for (int i = 0; i < n; i++) {
                mean += row[i];
              }
              mean /= n;
            }
            long squares = 0;
            for (int i = 0; i < n; i++) {
              row[i] -= mean;
              squares += row[i] * row[i];
            }
            long root = Math.max(1, squareRoot(squares / n + 1));
            for (int i = 0; i < n; i++) {
              row[i] = clamp(row[i] * weight[i] / root + bias[i] >> shift, low, high);
            }
          }
          """,
          ROOT,
          CLAMP);
}
