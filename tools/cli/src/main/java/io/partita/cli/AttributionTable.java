package io.partita.cli;

import io.partita.driver.evaluate.Attribution;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** Prints what syncs send, and what the rewrites of blocks cost. */
final class AttributionTable {
  private static final String SYNC = "%-22s %14s %14s%s  %s";
  private static final String BLOCK = "%-22s %14s %14s  %s";

  private AttributionTable() {}

  static List<String> lines(Attribution.Result result) {
    List<String> lines = new ArrayList<>();
    boolean hasTime = result.syncs().stream().anyMatch(sync -> sync.seconds().isPresent());
    lines.add("");
    lines.add(
        SYNC.formatted(
            "sync",
            "exact bytes",
            "bytes",
            hasTime ? " %14s %14s".formatted("exact latency", "latency") : "",
            "value"));
    for (Attribution.Sync sync : result.syncs()) {
      lines.add(
          SYNC.formatted(
              place(sync),
              bytes(sync.exactBytes()),
              bytes(sync.bytes()),
              hasTime
                  ? " %14s %14s"
                      .formatted(
                          time(sync.exactSeconds().getAsDouble()),
                          time(sync.seconds().getAsDouble()))
                  : "",
              sync.name()));
    }
    lines.add("");
    lines.add(BLOCK.formatted("only this block", "error", result.metric(), "method"));
    lines.add(BLOCK.formatted("none", "", value(result.exact()), "exact"));
    for (Attribution.Block block : result.blocks()) {
      lines.add(
          BLOCK.formatted(
              "block " + block.block(),
              error(block.alone().error()),
              value(block.alone().value()),
              block.method()));
      lines.addAll(parts(result, block));
    }
    lines.add(BLOCK.formatted("all", "", value(result.value()), ""));
    return lines.stream().map(String::stripTrailing).toList();
  }

  /** The lines of the syncs of a block, if there are several. */
  private static List<String> parts(Attribution.Result result, Attribution.Block block) {
    List<Attribution.Sync> syncs =
        result.syncs().stream()
            .filter(sync -> sync.block() == block.block())
            .filter(sync -> sync.alone().isPresent())
            .toList();
    boolean isSame =
        syncs.stream().allMatch(sync -> sync.alone().orElseThrow().equals(block.alone()));
    return isSame
        ? List.of()
        : syncs.stream()
            .map(
                sync ->
                    BLOCK.formatted(
                        "",
                        error(sync.alone().orElseThrow().error()),
                        value(sync.alone().orElseThrow().value()),
                        "only " + sync.name()))
            .toList();
  }

  private static String error(double error) {
    return String.format(Locale.ROOT, "%.2e", error);
  }

  private static String place(Attribution.Sync sync) {
    if (sync.block() < 0) {
      return sync.role().isEmpty() ? sync.name() : sync.role();
    }
    return "block " + sync.block() + (sync.role().isEmpty() ? "" : " " + sync.role());
  }

  private static String bytes(double bytes) {
    return String.format(Locale.ROOT, "%,.1f", bytes);
  }

  private static String time(double seconds) {
    return String.format(Locale.ROOT, "%,.1f us", 1e6 * seconds);
  }

  private static String value(double value) {
    return String.format(Locale.ROOT, "%.4f", value);
  }

  static Map<String, Object> report(Attribution.Result result) {
    Map<String, Object> report = new LinkedHashMap<>();
    report.put("exactValue", result.exact());
    report.put("syncs", result.syncs().stream().map(AttributionTable::report).toList());
    report.put("blocks", result.blocks().stream().map(AttributionTable::report).toList());
    return report;
  }

  private static Map<String, Object> report(Attribution.Sync sync) {
    Map<String, Object> report = new LinkedHashMap<>();
    report.put("name", sync.name());
    if (sync.block() >= 0) {
      report.put("block", sync.block());
    }
    report.put("role", sync.role());
    report.put("exactBytesPerToken", sync.exactBytes());
    report.put("bytesPerToken", sync.bytes());
    sync.exactSeconds().ifPresent(seconds -> report.put("exactSeconds", seconds));
    sync.seconds().ifPresent(seconds -> report.put("seconds", seconds));
    sync.alone()
        .ifPresent(
            effect -> {
              report.put("error", effect.error());
              report.put("value", effect.value());
            });
    return report;
  }

  private static Map<String, Object> report(Attribution.Block block) {
    Map<String, Object> report = new LinkedHashMap<>();
    report.put("block", block.block());
    report.put("method", block.method());
    report.put("error", block.alone().error());
    report.put("value", block.alone().value());
    return report;
  }
}
