package io.partita.cli;

import io.partita.backend.emitted.measure.MeasuredChip;
import io.partita.backend.emitted.measure.PredictedRun.Chip;
import io.partita.backend.emitted.measure.StepFigures;
import io.partita.backend.emitted.measure.StepLabel;
import io.partita.passes.schedule.predict.SchedulePrediction.Traffic;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.stream.IntStream;

/** The measured and predicted figures of a run on chips, as text. */
final class ProfilePage {
  private static final int SLOWEST = 15;
  private static final int MAX_CHIPS = 16;

  private final ChipRunReport report;
  private final List<String> lines = new ArrayList<>();

  private ProfilePage(ChipRunReport report) {
    this.report = report;
  }

  static List<String> of(ChipRunReport report) {
    ProfilePage page = new ProfilePage(report);
    MeasuredChip slowest =
        report.measured().chips().stream()
            .max(Comparator.comparingLong(report::cycles))
            .orElseThrow();
    page.totals(slowest);
    page.chips();
    page.steps(slowest);
    return page.lines;
  }

  private void row(String what, String measured, String predicted, String error) {
    lines.add("%-34s %16s %16s %8s".formatted(what, measured, predicted, error).stripTrailing());
  }

  private void row(String what, long measured, long predicted, boolean comparable) {
    row(what, number(measured), number(predicted), comparable ? error(measured, predicted) : "");
  }

  /** The error relative to the predicted figure. */
  private static String error(double measured, double predicted) {
    return measured == predicted || measured == 0
        ? ""
        : String.format(Locale.ROOT, "%+.1f %%", 100 * (predicted / measured - 1));
  }

  private static String number(long value) {
    return String.format(Locale.ROOT, "%,d", value);
  }

  private void totals(MeasuredChip slowest) {
    Chip expected = report.predictedChip(slowest);
    boolean comparable = report.port().keepsTime();
    String clock = report.port().clock();
    lines.add("");
    String chip =
        report.measured().chips().size() == 1 ? "" : "chip %d, ".formatted(slowest.chip());
    row(chip + "the run", "measured", "predicted", "error");
    String unit = comparable ? "cycles" : clock + "; predicted, cycles";
    row(unit, report.cycles(slowest), StepFigures.cycles(expected.figures()), comparable);
    row(
        "  kernels compute",
        StepFigures.computeCycles(slowest.steps()),
        StepFigures.computeCycles(expected.figures()),
        comparable);
    row(
        "  waiting for L3",
        MeasuredChip.waitCycles(expected, slowest.steps()),
        MeasuredChip.waitCycles(expected, expected.figures()),
        comparable);
    if (!slowest.transfers().isEmpty()) {
      long busy = slowest.l3Cycles();
      row("  L3 is busy", number(busy), "", "");
      row("  hidden of that", number(slowest.hiddenL3Cycles(expected)), "", "");
    }
    Traffic found = StepFigures.moved(slowest.steps());
    Traffic wanted = StepFigures.moved(expected.figures());
    row("bytes between L2 and L1", found.homeWorking(), wanted.homeWorking(), true);
    row("bytes between L3 and L2", found.farHome(), wanted.farHome(), true);
    if (wanted.sent() + wanted.received() > 0) {
      row("bytes sent", found.sent(), wanted.sent(), true);
      row("bytes received", found.received(), wanted.received(), true);
    }
    String measured = comparable ? Figures.joules(report.joules()) : "";
    double joules = report.predicted().joules();
    String all = report.measured().chips().size() == 1 ? "energy" : "energy of all chips";
    row(all, measured, Figures.joules(joules), comparable ? error(report.joules(), joules) : "");
  }

  private void chips() {
    if (report.measured().chips().size() == 1) {
      return;
    }
    lines.add("");
    String form = "%-6s %14s %14s %14s %14s";
    lines.add(
        form.formatted("chip", report.port().clock(), "predicted", "waiting for L3", "sent, B"));
    for (MeasuredChip chip : report.measured().chips().stream().limit(MAX_CHIPS).toList()) {
      Chip expected = report.predictedChip(chip);
      lines.add(
          form.formatted(
              chip.chip(),
              number(report.cycles(chip)),
              number(StepFigures.cycles(expected.figures())),
              number(MeasuredChip.waitCycles(expected, chip.steps())),
              number(StepFigures.moved(chip.steps()).sent())));
    }
    int more = report.measured().chips().size() - MAX_CHIPS;
    if (more > 0) {
      lines.add("and " + more + " more; --json has all");
    }
  }

  private void steps(MeasuredChip chip) {
    Chip expected = report.predictedChip(chip);
    long all = report.cycles(chip);
    lines.add("");
    lines.add("slowest steps of chip " + chip.chip());
    lines.add(
        "%6s %14s %6s %14s  %s".formatted("step", report.port().clock(), "share", "predicted", ""));
    IntStream.range(0, chip.steps().size())
        .boxed()
        .sorted(Comparator.comparingLong(step -> -chip.steps().get(step).cycles()))
        .limit(SLOWEST)
        .forEach(
            step -> {
              long cycles = chip.steps().get(step).cycles();
              lines.add(
                  "%6d %14s %5.1f%% %14s  %s"
                      .formatted(
                          step,
                          number(cycles),
                          100.0 * cycles / Math.max(1, all),
                          number(expected.figures().get(step).cycles()),
                          what(expected.steps().get(step))));
            });
  }

  private static String what(StepLabel step) {
    return step.kind().text()
        + (step.call().isEmpty() ? "" : " " + step.call())
        + (step.origin().text().isEmpty() ? "" : ": " + step.origin().text());
  }
}
