package io.partita.benchmarks.speculation;

import io.partita.benchmarks.Drawing;
import java.util.List;
import java.util.Locale;
import java.util.function.IntToDoubleFunction;

/**
 * Draws figure 7 as SVG: for each length of context, tokens a second by the number of devices.
 * Points from fitted times are hollow.
 */
final class ScalingPicture {
  private static final int WIDTH = 190;
  private static final int HEIGHT = 170;
  private static final int LEFT = 40;
  private static final int TOP = 30;
  private static final double MOST = 70;
  private static final List<String> COLOURS =
      List.of("#888888", "#9ecae1", "#6baed6", "#3182bd", "#08519c");

  private final ScalingModel model;
  private final Drawing drawing;

  private ScalingPicture(ScalingModel model) {
    this.model = model;
    int panels = LatencyTables.CONTEXTS.size();
    drawing = new Drawing(LEFT + panels * WIDTH, TOP + HEIGHT + 60);
  }

  static String of(ScalingModel model) {
    return new ScalingPicture(model).draw();
  }

  private String draw() {
    for (int panel = 0; panel < LatencyTables.CONTEXTS.size(); panel++) {
      panel(LEFT + panel * WIDTH, LatencyTables.CONTEXTS.get(panel));
    }
    legend();
    return drawing.svg();
  }

  private void panel(int left, int context) {
    int right = left + WIDTH - 30;
    drawing.text(left, TOP - 10, "start", context + "k tokens" + (context == 1 ? "" : " (fitted)"));
    for (int rate = 0; rate <= MOST; rate += 10) {
      drawing.line(left, height(rate), right, height(rate), "#dddddd", "");
      drawing.text(left - 4, height(rate) + 3, "end", String.valueOf(rate));
    }
    for (int devices : new int[] {1, 2, 4, 8}) {
      drawing.text(place(left, devices), TOP + HEIGHT + 14, "middle", String.valueOf(devices));
    }
    curve(left, List.of(1, 2, 4, 8), context, 0, d -> 1e9 / model.tensor(d, context));
    for (int i = 0; i < LatencyTables.RATES.size(); i++) {
      double rate = LatencyTables.RATES.get(i);
      curve(left, List.of(2, 4, 8), context, i + 1, d -> 1e9 / model.speculative(d, context, rate));
    }
  }

  private void curve(
      int left, List<Integer> devices, int context, int colour, IntToDoubleFunction rate) {
    StringBuilder path = new StringBuilder();
    for (int each : devices) {
      path.append(path.isEmpty() ? "M" : "L")
          .append(
              String.format(
                  Locale.ROOT, "%.1f %.1f", place(left, each), height(rate.applyAsDouble(each))));
    }
    drawing.path(path.toString(), COLOURS.get(colour), "");
    for (int each : devices) {
      drawing.circle(
          place(left, each),
          height(rate.applyAsDouble(each)),
          COLOURS.get(colour),
          context == 1 ? COLOURS.get(colour) : "white");
    }
  }

  private void legend() {
    double y = TOP + HEIGHT + 40;
    drawing.text(LEFT, y, "start", "tokens a second by devices:");
    drawing.text(LEFT + 150, y, "start", "all split tensors", COLOURS.get(0));
    for (int i = 0; i < LatencyTables.RATES.size(); i++) {
      drawing.text(
          LEFT + 260 + 130 * i,
          y,
          "start",
          "halves, " + LatencyTables.percent(LatencyTables.RATES.get(i)) + " % hits",
          COLOURS.get(i + 1));
    }
  }

  private static double place(int left, int devices) {
    return left + 10 + 45 * (31 - Integer.numberOfLeadingZeros(devices));
  }

  private static double height(double rate) {
    return TOP + HEIGHT * (1 - rate / MOST);
  }
}
