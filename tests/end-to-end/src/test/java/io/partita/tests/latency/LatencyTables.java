package io.partita.tests.latency;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** The tables of the predicted latencies in {@code docs/measurements.md}. */
final class LatencyTables {
  private static final List<Integer> DEVICES = List.of(2, 4, 6, 8);
  private static final List<Integer> TOKENS = List.of(256, 512, 1024, 2048, 4096);

  private final EncoderLatency latency;

  LatencyTables(EncoderLatency latency) {
    this.latency = latency;
  }

  /** How many times as long a baseline takes as ASTRA with one group, in the setting of table 4. */
  double ratio(LatencyMethod baseline, int megabits) {
    return seconds(baseline, megabits) / seconds(LatencyMethod.VECTOR_1, megabits);
  }

  private double seconds(LatencyMethod method, int megabits) {
    return latency.seconds(method, PublishedSpeedup.DEVICES, PublishedSpeedup.TOKENS, megabits);
  }

  double speedup(LatencyMethod method, int devices, int tokens, int megabits) {
    return latency.single(tokens) / latency.seconds(method, devices, tokens, megabits);
  }

  /** Table 4, published and predicted. */
  String published() {
    List<String> lines = new ArrayList<>();
    lines.add(
        "| Mbps | TP, paper | predicted | error | SP, paper | predicted | error | BP+AG, paper | BP+SP, paper |");
    lines.add("| ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |");
    for (PublishedSpeedup row : PublishedSpeedup.TABLE_4) {
      lines.add(
          String.format(
              Locale.ROOT,
              "| %d | %s | %s | %.2f | %.2f |",
              row.megabits(),
              compared(row.tensor(), ratio(LatencyMethod.TENSOR, row.megabits())),
              compared(row.sequence(), ratio(LatencyMethod.SEQUENCE, row.megabits())),
              row.gather(),
              row.blockSequence()));
    }
    return String.join("\n", lines);
  }

  private static String compared(double paper, double predicted) {
    return String.format(
        Locale.ROOT, "%.2f | %.2f | %+.1f %%", paper, predicted, 100 * (predicted / paper - 1));
  }

  /** Latencies in the setting of table 4, in milliseconds. */
  String milliseconds() {
    List<String> lines = new ArrayList<>();
    StringBuilder head = new StringBuilder("| Mbps |");
    StringBuilder rule = new StringBuilder("| ---: |");
    for (LatencyMethod method : LatencyMethod.values()) {
      head.append(' ').append(method.text()).append(" |");
      rule.append(" ---: |");
    }
    lines.add(head.toString());
    lines.add(rule.toString());
    for (PublishedSpeedup row : PublishedSpeedup.TABLE_4) {
      StringBuilder line = new StringBuilder("| " + row.megabits() + " |");
      for (LatencyMethod method : LatencyMethod.values()) {
        line.append(String.format(Locale.ROOT, " %,.0f |", 1e3 * seconds(method, row.megabits())));
      }
      lines.add(line.toString());
    }
    return String.join("\n", lines);
  }

  /** Speedups over one device that the paper's text states. */
  String statements() {
    List<String> lines = new ArrayList<>();
    lines.add("| method | devices | tokens | Mbps | paper | predicted | error | section |");
    lines.add("| --- | ---: | ---: | ---: | ---: | ---: | ---: | --- |");
    for (PublishedSpeedup.Statement each : PublishedSpeedup.STATEMENTS) {
      lines.add(
          String.format(
              Locale.ROOT,
              "| %s | %d | %d | %d | %s | %s |",
              each.method().text(),
              each.devices(),
              each.tokens(),
              each.megabits(),
              compared(
                  each.speedup(),
                  speedup(each.method(), each.devices(), each.tokens(), each.megabits())),
              each.place()));
    }
    return String.join("\n", lines);
  }

  /** The latency on one device. */
  String single() {
    List<String> lines = new ArrayList<>();
    lines.add("| tokens | one device, ms |");
    lines.add("| ---: | ---: |");
    for (int tokens : TOKENS) {
      lines.add(String.format(Locale.ROOT, "| %d | %,.0f |", tokens, 1e3 * latency.single(tokens)));
    }
    return String.join("\n", lines);
  }

  /** The speedups of a method over one device. */
  String grid(LatencyMethod method) {
    List<String> lines = new ArrayList<>();
    StringBuilder head = new StringBuilder("| " + method.text() + ": devices | tokens |");
    StringBuilder rule = new StringBuilder("| ---: | ---: |");
    for (PublishedSpeedup column : PublishedSpeedup.TABLE_4) {
      head.append(' ').append(column.megabits()).append(" Mbps |");
      rule.append(" ---: |");
    }
    lines.add(head.toString());
    lines.add(rule.toString());
    for (int devices : DEVICES) {
      for (int tokens : TOKENS) {
        lines.add(row(method, devices, tokens));
      }
    }
    return String.join("\n", lines);
  }

  String row(LatencyMethod method, int devices, int tokens) {
    StringBuilder line = new StringBuilder("| " + devices + " | " + tokens + " |");
    for (PublishedSpeedup column : PublishedSpeedup.TABLE_4) {
      line.append(
          String.format(
              Locale.ROOT, " %.3f |", speedup(method, devices, tokens, column.megabits())));
    }
    return line.toString();
  }
}
