package io.partita.benchmarks.speculation;

import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The tables of the latency model in {@code docs/measurements.md}. */
final class LatencyTables {
  static final List<Integer> CONTEXTS = List.of(1, 32, 64, 96, 128);
  static final List<Double> RATES = List.of(0.5, 0.625, 0.75, 0.875);

  private final ScalingModel model;

  LatencyTables(ScalingModel model) {
    this.model = model;
  }

  String gpus() {
    return Stream.concat(
            Stream.of(
                "| tokens of context | 4 devices | 8 devices | 4 + 4, published | 4 + 4, predicted | error | gain over 4 |",
                "| ---: | ---: | ---: | ---: | ---: | ---: | ---: |"),
            GpuProjection.ROWS.stream()
                .map(
                    row ->
                        format(
                            "| %,d | %.1f | %.1f | %.1f | %.1f | %+.2f %% | %.1f %% |",
                            row.context(),
                            row.tensor4(),
                            row.tensor8(),
                            row.published(),
                            row.predicted(),
                            100 * row.error(),
                            100 * (row.predicted() / row.tensor4() - 1))))
        .collect(Collectors.joining("\n"));
  }

  String profiles() {
    return Stream.concat(
            Stream.of(
                "| devices | a layer, ms | stated, ms | flash decode, ms | ends, ms | stated, ms | a token, ms |",
                "| ---: | ---: | ---: | ---: | ---: | ---: | ---: |"),
            Stream.of(1, 2, 4, 8).map(this::profile))
        .collect(Collectors.joining("\n"));
  }

  private String profile(int devices) {
    LayerProfile profile = LayerProfile.of(devices);
    return format(
        "| %d | %.6f | %.6f | %.6f | %.6f | %.6f | %.2f |",
        devices,
        profile.layer() / 1e6,
        profile.statedLayer() / 1e6,
        profile.flashDecode() / 1e6,
        profile.ends() / 1e6,
        profile.statedEnds() / 1e6,
        model.tensor(devices, 1) / 1e6);
  }

  String scaling() {
    String rates =
        RATES.stream()
            .map(rate -> format("%s %% hits", percent(rate)))
            .collect(Collectors.joining(" | "));
    Stream<String> head =
        Stream.of(
            "| context | times of flash decode | devices | all split tensors | " + rates + " |",
            "| ---: | --- | ---: | ---: | ---: | ---: | ---: | ---: |");
    Stream<String> lines =
        CONTEXTS.stream()
            .flatMap(context -> Stream.of(1, 2, 4, 8).map(devices -> line(context, devices)));
    return Stream.concat(head, lines).collect(Collectors.joining("\n"));
  }

  private String line(int context, int devices) {
    String speculative =
        RATES.stream()
            .map(
                rate ->
                    devices == 1
                        ? ""
                        : format("%.1f", 1e9 / model.speculative(devices, context, rate)))
            .collect(Collectors.joining(" | "));
    return format(
        "| %dk | %s | %d | %.1f | %s |",
        context,
        context == 1 ? "measured" : "fitted",
        devices,
        1e9 / model.tensor(devices, context),
        speculative);
  }

  String statements() {
    double[] gains =
        CONTEXTS.stream()
            .mapToDouble(context -> model.gain(8, context, ScalingModel.BEST_RATE))
            .toArray();
    double attention =
        model.tensorAttention(8, 128) / model.speculativeAttention(8, 128, ScalingModel.BEST_RATE);
    return String.join(
        "\n",
        "| statement, 87.5 % hits | paper | model | |",
        "| --- | ---: | ---: | --- |",
        format("| gain over 8 devices at 96k | 1.65 | %.2f | fitted |", gains[3]),
        format("| at 128k | less than 1.65 | %.2f | predicted |", gains[4]),
        format("| at 64k | less than 1.65 | %.2f | predicted |", gains[2]),
        format(
            "| attention's part of a token at 128k, 8 devices | up to 5x | %.1fx | predicted |",
            attention),
        format(
            "| gain of splitting over 8 devices instead of 4, at 128k | almost none | %.2f | predicted; growth assumed equal |",
            model.tensor(4, 128) / model.tensor(8, 128)),
        format(
            "| time of flash decode for 1k tokens on one device | | %.2f us | fitted |",
            model.slope() / 1e3));
  }

  static String percent(double rate) {
    return format("%.1f", 100 * rate).replace(".0", "");
  }

  private static String format(String format, Object... values) {
    return String.format(Locale.ROOT, format, values);
  }
}
