package io.partita.benchmarks.speculation;

import java.util.List;

/**
 * A line of table 3: Llama 3 8B on H100s. The ends are what the measured time of a token leaves. A
 * receiver doesn't wait, and the number of layers that hit needn't be whole: with 20 layers instead
 * of 20.8, the projection at 128k tokens would be 1 % slower than the paper's.
 *
 * @param context the length of the context in tokens
 * @param attention microseconds in a layer on 4 devices
 * @param other the other microseconds in a layer
 * @param tensor4 measured tokens a second on 4 devices
 * @param tensor8 measured tokens a second on 8 devices
 * @param published the paper's projection for 4 + 4 devices, in tokens a second
 */
record GpuProjection(
    int context, double attention, double other, double tensor4, double tensor8, double published) {
  static final List<GpuProjection> ROWS =
      MeasuredRows.read("h100.csv").stream()
          .map(
              row ->
                  new GpuProjection(
                      Integer.parseInt(row[0]),
                      Double.parseDouble(row[1]),
                      Double.parseDouble(row[2]),
                      Double.parseDouble(row[3]),
                      Double.parseDouble(row[4]),
                      Double.parseDouble(row[5])))
          .toList();

  private static final int LAYERS = 32;
  private static final double RATE = 0.65;

  /** The tokens a second of 4 + 4 devices with 65 % of hits. */
  double predicted() {
    double ends = 1e6 / tensor4 - LAYERS * (attention + other);
    return 1e6 / new TokenTime(LAYERS, ends, other).speculative(LAYERS * RATE, attention, 0);
  }

  double error() {
    return predicted() / published - 1;
  }
}
