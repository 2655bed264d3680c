package io.partita.tests.matrix;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/** Tables of results, with one row for each strategy and family of models. */
final class MatrixReport {
  private static final String MARK = "<!-- computed by DistributionMatrixTest -->";

  private static final String HEAD =
      """
      | models | numbers | how many | strategy | devices | runs | that communicate | same bits | largest error | of the bound |
      | --- | --- | ---: | --- | --- | ---: | ---: | ---: | ---: | ---: |
      """;

  private final Map<String, Row> rows = new TreeMap<>();
  private final Map<String, Set<String>> refusals = new TreeMap<>();
  private final List<Matrix.Cell> failures = new ArrayList<>();

  /** One line of the table. */
  private static final class Row {
    private final Set<String> models = new TreeSet<>();
    private final Set<Integer> devices = new TreeSet<>();
    private int runs;
    private int communicating;
    private int exact;
    private double relative;
    private double ofBound;

    void add(Matrix.Cell cell, Outcome.Agrees agrees) {
      models.add(cell.subject().toString());
      devices.add(cell.strategy().devices());
      runs++;
      communicating += agrees.messages() > 0 ? 1 : 0;
      exact += agrees.exact() ? 1 : 0;
      relative = Math.max(relative, agrees.relative());
      ofBound = Math.max(ofBound, agrees.ofBound());
    }
  }

  void add(Matrix.Cell cell) {
    String where =
        cell.subject().group() + "|" + cell.numbers() + "|" + cell.kind() + engine(cell.engine());
    switch (cell.outcome()) {
      case Outcome.Agrees agrees -> rows.computeIfAbsent(where, key -> new Row()).add(cell, agrees);
      case Outcome.Refused(var code, var reason) ->
          refusals
              .computeIfAbsent(where + "|" + code, key -> new TreeSet<>())
              .add(cell.subject().toString());
      case Outcome.Fails fails -> failures.add(cell);
    }
  }

  private static String engine(Engine engine) {
    return switch (engine) {
      case EVALUATOR -> "";
      case JAVA -> ", emitted Java";
    };
  }

  List<Matrix.Cell> failures() {
    return List.copyOf(failures);
  }

  /** Returns a document with the tables after its mark. */
  String inside(String document) {
    int mark = document.indexOf(MARK);
    if (mark < 0) {
      throw new IllegalArgumentException("no " + MARK);
    }
    return document.substring(0, mark) + MARK + "\n" + table() + notDistributed();
  }

  private String notDistributed() {
    return refusals.isEmpty()
        ? "\nNothing was refused.\n"
        : "\nRefused, with a diagnostic that says why:\n\n" + refusals();
  }

  /** Markdown. */
  String table() {
    StringBuilder text = new StringBuilder(HEAD);
    rows.forEach(
        (where, row) -> {
          String[] names = where.split("\\|");
          text.append(
              "| %s | %s | %d | %s | %s | %d | %d | %d | %s | %s |%n"
                  .formatted(
                      names[0],
                      names[1],
                      row.models.size(),
                      names[2],
                      ranges(row.devices),
                      row.runs,
                      row.communicating,
                      row.exact,
                      figure(row.relative),
                      row.ofBound == 0 ? "0" : "%.3f".formatted(row.ofBound)));
        });
    return text.toString();
  }

  /** Returns the refused runs and their diagnostics in Markdown. */
  private String refusals() {
    StringBuilder text =
        new StringBuilder(
            """
            | models | numbers | strategy | diagnostic | how many |
            | --- | --- | --- | --- | ---: |
            """);
    refusals.forEach(
        (where, models) ->
            text.append("| %s | %d |%n".formatted(where.replace("|", " | "), models.size())));
    return text.toString();
  }

  private static String figure(double number) {
    return number == 0 ? "0" : "%.1e".formatted(number);
  }

  /** Returns ranges such as {@code 1-8, 12, 16}. */
  private static String ranges(Collection<Integer> numbers) {
    List<String> ranges = new ArrayList<>();
    List<Integer> sorted = List.copyOf(numbers);
    for (int i = 0; i < sorted.size(); i++) {
      int first = sorted.get(i);
      while (i + 1 < sorted.size() && sorted.get(i + 1) == sorted.get(i) + 1) {
        i++;
      }
      ranges.add(first == sorted.get(i) ? "" + first : first + "-" + sorted.get(i));
    }
    return String.join(", ", ranges);
  }
}
