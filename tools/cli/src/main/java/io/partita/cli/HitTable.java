package io.partita.cli;

import io.partita.driver.evaluate.SpeculationHits;
import io.partita.passes.graph.speculate.ErrorBound;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.IntStream;

/** Prints how often the approximation of attention was accepted. */
final class HitTable {
  /** The most columns of positions. */
  private static final int COLUMNS = 8;

  private HitTable() {}

  /** Lines by block, with columns of equal ranges of positions. */
  static List<String> lines(SpeculationHits hits, double lambda) {
    int width = Math.ceilDiv(hits.positions(), COLUMNS);
    List<String> lines = new ArrayList<>();
    lines.add("");
    StringBuilder head = new StringBuilder("%-9s %9s".formatted("accepted", "tokens"));
    for (int from = 0; from < hits.positions(); from += width) {
      head.append(" %8s".formatted(from + "-" + (end(hits, from, width) - 1)));
    }
    lines.add(head.toString());
    for (int block = 0; block < hits.blocks(); block++) {
      lines.add(line("block " + block, hits, block, block + 1, width));
    }
    lines.add(line("all", hits, 0, hits.blocks(), width));
    lines.add("");
    lines.add(
        String.format(
            Locale.ROOT,
            "error bound  %.2f of the last hidden state in 95 %% of cases (c = 1), %.2f if errors"
                + " add up",
            ErrorBound.likely(lambda, hits.blocks()),
            ErrorBound.worst(lambda, hits.blocks())));
    return lines;
  }

  private static int end(SpeculationHits hits, int from, int width) {
    return Math.min(from + width, hits.positions());
  }

  private static String line(String name, SpeculationHits hits, int first, int last, int width) {
    StringBuilder line =
        new StringBuilder(
            "%-9s %9s".formatted(name, percent(hits.rate(first, last, 0, hits.positions()))));
    for (int from = 0; from < hits.positions(); from += width) {
      line.append(" %8s".formatted(percent(hits.rate(first, last, from, end(hits, from, width)))));
    }
    return line.toString();
  }

  static String percent(double rate) {
    return String.format(Locale.ROOT, "%.1f %%", 100 * rate);
  }

  static Map<String, Object> report(SpeculationHits hits, double lambda) {
    Map<String, Object> report = new LinkedHashMap<>();
    report.put("likelyErrorBound", ErrorBound.likely(lambda, hits.blocks()));
    report.put("worstErrorBound", ErrorBound.worst(lambda, hits.blocks()));
    report.put("hitRate", hits.rate());
    report.put(
        "hitRateByBlock",
        IntStream.range(0, hits.blocks())
            .mapToObj(block -> hits.rate(block, block + 1, 0, hits.positions()))
            .toList());
    report.put(
        "hitRateByPosition",
        IntStream.range(0, hits.positions())
            .mapToObj(position -> hits.rate(0, hits.blocks(), position, position + 1))
            .toList());
    report.put(
        "hitRateByBlockAndPosition",
        IntStream.range(0, hits.blocks())
            .mapToObj(
                block ->
                    IntStream.range(0, hits.positions())
                        .mapToObj(position -> hits.rate(block, block + 1, position, position + 1))
                        .toList())
            .toList());
    return report;
  }
}
