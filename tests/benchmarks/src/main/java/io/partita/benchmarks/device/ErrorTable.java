package io.partita.benchmarks.device;

import java.io.PrintStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** Measured and predicted cycles, as a table in Markdown. */
final class ErrorTable {
  private record Line(String what, double measured, double predicted) {
    double error() {
      return predicted / measured - 1;
    }
  }

  private final String title;
  private final List<Line> lines = new ArrayList<>();

  /**
   * @param title of the first column
   */
  ErrorTable(String title) {
    this.title = title;
  }

  void add(String what, double measured, double predicted) {
    lines.add(new Line(what, measured, predicted));
  }

  int size() {
    return lines.size();
  }

  /** Of the errors' amounts; the upper one of the two in the middle. */
  double median() {
    List<Double> errors = lines.stream().map(line -> Math.abs(line.error())).sorted().toList();
    return errors.isEmpty() ? Double.NaN : errors.get(errors.size() / 2);
  }

  void print(PrintStream out) {
    out.println("| " + title + " | measured, cycles | predicted | error |");
    out.println("| --- | ---: | ---: | ---: |");
    for (Line line : lines) {
      out.printf(
          Locale.ROOT,
          "| %s | %,.0f | %,.0f | %+.0f %% |%n",
          line.what(),
          line.measured(),
          line.predicted(),
          100 * line.error());
    }
  }
}
