package io.partita.cli;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;

/** The blocks in which cores with private working memories compute results, as in reports. */
final class BlockTable {
  private static final int MAX_LOOPS = 12;
  private static final int MAX_NAME_LENGTH = 30;
  private static final String ROW = "%-30s %7s %11s %9s %5s %12s  %s";

  private BlockTable() {}

  /**
   * @param loops as in {@link io.partita.driver.report.BlockFields}
   */
  static List<String> lines(List<Map<String, Object>> loops) {
    List<String> lines = new ArrayList<>();
    lines.add("blocks on cores, in pages of 32 x 32");
    lines.add(
        ROW.formatted("loop", "cores", "result", "block", "depth", "in registers", "multicast"));
    for (Map<String, Object> loop : loops.subList(0, Math.min(MAX_LOOPS, loops.size()))) {
      String name = loop.get("name").toString();
      Map<?, ?> blocks = (Map<?, ?>) loop.get("blocks");
      lines.add(
          ROW.formatted(
              name.length() <= MAX_NAME_LENGTH
                  ? name
                  : name.substring(0, MAX_NAME_LENGTH - 1) + "…",
              pair(blocks.get("cores")),
              pair(blocks.get("pages")),
              pair(blocks.get("block")),
              Objects.requireNonNullElse(blocks.get("depth"), ""),
              pair(blocks.get("subblock")),
              joined(blocks.get("multicast"), ", ")));
    }
    if (loops.size() > MAX_LOOPS) {
      lines.add((loops.size() - MAX_LOOPS) + " more loops: see --json");
    }
    return lines.stream().map(String::stripTrailing).toList();
  }

  private static String pair(Object numbers) {
    return joined(numbers, " x ");
  }

  private static String joined(Object values, String separator) {
    return values == null
        ? ""
        : ((List<?>) values).stream().map(Object::toString).collect(Collectors.joining(separator));
  }
}
