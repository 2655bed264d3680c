package io.partita.benchmarks.speculation;

import java.util.List;

/**
 * Kernel times of Llama 3.1 8B on N150 cards, split by tensor parallelism, with 1k tokens of
 * context: tables 4 to 7.
 *
 * @param layer the time of a layer's kernels without flash decode, in nanoseconds
 * @param flashDecode the time of flash decode
 * @param ends the time of the embedding and the head
 * @param statedLayer the total that the table states for {@code layer}
 * @param statedEnds the total that the table states for {@code ends}
 */
record LayerProfile(
    int devices,
    double layer,
    double flashDecode,
    double ends,
    double statedLayer,
    double statedEnds) {
  private static final String FLASH_DECODE = "ScaledDotProductAttentionDecode";
  private static final String TOTAL = "total";

  private static final List<String[]> ROWS = MeasuredRows.read("n150.csv");

  /** Returns the profile on 1, 2, 4 or 8 devices. */
  static LayerProfile of(int devices) {
    double flashDecode = sum(devices, "layer", FLASH_DECODE);
    double statedLayer = sum(devices, "layer", TOTAL);
    double statedEnds = sum(devices, "ends", TOTAL);
    return new LayerProfile(
        devices,
        sum(devices, "layer", null) - flashDecode - statedLayer,
        flashDecode,
        sum(devices, "ends", null) - statedEnds,
        statedLayer,
        statedEnds);
  }

  /** The sum of a part's lines: of one kernel, or of all with null. */
  private static double sum(int devices, String part, String kernel) {
    return ROWS.stream()
        .filter(row -> Integer.parseInt(row[0]) == devices && row[1].equals(part))
        .filter(row -> kernel == null || row[2].equals(kernel))
        .mapToDouble(row -> Double.parseDouble(row[3]))
        .sum();
  }
}
