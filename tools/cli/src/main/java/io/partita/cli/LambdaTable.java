package io.partita.cli;

import io.partita.driver.evaluate.SpeculationSearch;
import io.partita.driver.evaluate.SpeculationSearch.Tried;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** Prints the thresholds of a speculation that were tried, and the chosen one if one is chosen. */
final class LambdaTable {
  private LambdaTable() {}

  /** Lines with a choice below the thresholds that were tried for it. */
  static List<String> choice(SpeculationSearch.Result result) {
    List<String> lines = new ArrayList<>(lines(result));
    lines.add("");
    if (result.chosen().isPresent()) {
      Tried chosen = result.chosen().get();
      lines.add("chosen: lambda=" + chosen.lambda());
      lines.addAll(HitTable.lines(chosen.result().hits(), chosen.lambda()));
    } else {
      lines.add("none is within the budget: lambda=0 accepts no approximation");
    }
    return lines;
  }

  static List<String> lines(SpeculationSearch.Result result) {
    List<String> lines = new ArrayList<>();
    lines.add("%-9s %12s %9s %9s".formatted("lambda", result.exact().metric(), "loss", "accepted"));
    lines.add(line("exact", result.exact().value(), 0, 0));
    for (Tried tried : result.tried()) {
      lines.add(
          line(
              "" + tried.lambda(),
              tried.result().evaluation().value(),
              tried.loss(),
              tried.result().hits().rate()));
    }
    return lines;
  }

  private static String line(String lambda, double value, double loss, double hits) {
    return String.format(
        Locale.ROOT,
        "%-9s %12.4f %9s %9s",
        lambda,
        value,
        String.format(Locale.ROOT, "%.2f %%", 100 * loss),
        HitTable.percent(hits));
  }

  static Map<String, Object> choiceReport(SpeculationSearch.Result result) {
    Map<String, Object> report = report(result);
    report.put("lambda", result.chosen().map(Tried::lambda).orElse(0.0));
    result
        .chosen()
        .ifPresent(
            chosen -> report.putAll(HitTable.report(chosen.result().hits(), chosen.lambda())));
    return report;
  }

  static Map<String, Object> report(SpeculationSearch.Result result) {
    Map<String, Object> report = new LinkedHashMap<>();
    report.put("metric", result.exact().metric());
    report.put("exact", result.exact().value());
    report.put(
        "tried",
        result.tried().stream()
            .map(
                tried -> {
                  Map<String, Object> one = new LinkedHashMap<>();
                  one.put("lambda", tried.lambda());
                  one.put("value", tried.result().evaluation().value());
                  one.put("loss", tried.loss());
                  one.putAll(HitTable.report(tried.result().hits(), tried.lambda()));
                  return one;
                })
            .toList());
    return report;
  }
}
