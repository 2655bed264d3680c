package io.partita.benchmarks.device;

import java.io.PrintStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.OptionalDouble;

/** A Markdown table of measured and predicted cycles, and those of the plan, if any. */
final class ErrorTable {
  private record Line(String what, double measured, double predicted, OptionalDouble planned) {
    double error() {
      return predicted / measured - 1;
    }
  }

  private final String title;
  private final List<Line> lines = new ArrayList<>();

  /**
   * @param title the title of the first column
   */
  ErrorTable(String title) {
    this.title = title;
  }

  void add(String what, double measured, double predicted) {
    lines.add(new Line(what, measured, predicted, OptionalDouble.empty()));
  }

  void add(String what, double measured, double predicted, double planned) {
    lines.add(new Line(what, measured, predicted, OptionalDouble.of(planned)));
  }

  int size() {
    return lines.size();
  }

  /** Returns the median of absolute errors; of an even number, the upper one. */
  double median() {
    List<Double> errors = lines.stream().map(line -> Math.abs(line.error())).sorted().toList();
    return errors.isEmpty() ? Double.NaN : errors.get(errors.size() / 2);
  }

  void print(PrintStream out) {
    boolean isPlanned = lines.stream().anyMatch(line -> line.planned().isPresent());
    String planned = isPlanned ? "planned | " : "";
    out.println("| " + title + " | measured, cycles | predicted | " + planned + "error |");
    out.println("| --- | ---: | ---: | " + (isPlanned ? "---: | " : "") + "---: |");
    for (Line line : lines) {
      out.printf(
          Locale.ROOT,
          "| %s | %,.0f | %,.0f | %s%+.0f %% |%n",
          line.what(),
          line.measured(),
          line.predicted(),
          isPlanned ? String.format(Locale.ROOT, "%,.0f | ", line.planned().orElseThrow()) : "",
          100 * line.error());
    }
  }
}
