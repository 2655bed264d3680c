package io.partita.benchmarks.paper;

import io.partita.benchmarks.Drawing;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** Panels of points, lines and stacked bars side by side, with one legend. */
final class Chart {
  static final String BLUE = "#1b6ca8";
  static final String RED = "#d1495b";
  static final String GREEN = "#3a8f5c";
  static final String YELLOW = "#e0a030";
  static final String BLACK = "#222222";
  static final String GREY = "#8a8a8a";

  private static final int WIDTH = 250;
  private static final int LEFT = 55;
  private static final int TOP = 64;
  private static final int INNER = 175;
  private static final int HEIGHT = 190;
  private static final int BAR = 26;
  private static final int LEGEND_SPACING = 215;

  /**
   * An axis from a number above 0.
   *
   * @param isLog whether equal factors have equal lengths
   */
  record Axis(String title, double low, double high, boolean isLog, List<Double> marks) {
    double place(double value) {
      return isLog
          ? (Math.log(value) - Math.log(low)) / (Math.log(high) - Math.log(low))
          : (value - low) / (high - low);
    }

    /** An axis over values, with marks at round numbers. */
    static Axis over(String title, List<Double> values, boolean isLog) {
      double most = values.stream().mapToDouble(value -> value).max().orElse(1);
      double least = values.stream().mapToDouble(value -> value).min().orElse(0.1);
      List<Double> marks = new ArrayList<>();
      if (isLog) {
        double low = Math.pow(10, Math.floor(Math.log10(least)));
        for (double decade = low; decade <= most * 2.1; decade *= 10) {
          for (double step : new double[] {1, 2, 5}) {
            marks.add(decade * step);
          }
        }
        List<Double> shown =
            marks.stream().filter(mark -> mark >= least / 2.1 && mark <= most * 2.1).toList();
        return new Axis(
            title, Math.min(shown.getFirst(), least), Math.max(shown.getLast(), most), true, shown);
      }
      double step = Math.pow(10, Math.floor(Math.log10(most)));
      while (most / step < 4) {
        step /= 2;
      }
      int count = (int) Math.ceil(most / step);
      for (int i = 0; i <= count; i++) {
        marks.add(i * step);
      }
      return new Axis(title, 0, count * step, false, marks);
    }
  }

  /**
   * Points of one kind.
   *
   * @param isLine whether they are joined; else they are crosses
   */
  record Series(String name, String colour, boolean isLine, List<double[]> points) {}

  /**
   * A stack of bars at each mark of the horizontal axis.
   *
   * @param heights by colour
   */
  record Bar(double at, List<Double> heights) {}

  /** One panel. */
  record Panel(String title, Axis x, Axis y, List<Series> series, List<Bar> bars) {}

  private final Drawing drawing;

  private Chart(int width) {
    drawing = new Drawing(width, TOP + HEIGHT + 85);
  }

  /**
   * @param bars names and colours of the parts of bars
   */
  static String of(String title, List<Panel> panels, List<Series> bars) {
    Chart chart = new Chart(Math.max(panels.size() * WIDTH + 20, 780));
    chart.drawing.text(10, 18, "start", title);
    for (int i = 0; i < panels.size(); i++) {
      chart.panel(LEFT + i * WIDTH, panels.get(i), bars);
    }
    List<Series> named = new ArrayList<>(bars);
    for (Panel panel : panels) {
      for (Series each : panel.series()) {
        if (named.stream().noneMatch(other -> other.name().equals(each.name()))) {
          named.add(each);
        }
      }
    }
    chart.legend(named, bars.size());
    return chart.drawing.svg();
  }

  private void panel(int left, Panel panel, List<Series> bars) {
    drawing.text(left + INNER / 2.0, TOP - 12, "middle", panel.title());
    for (double mark : panel.y().marks()) {
      double y = y(panel.y(), mark);
      drawing.line(left, y, left + INNER, y, "#dddddd", "");
      drawing.text(left - 5, y + 4, "end", Goal.number(mark));
    }
    for (double mark : panel.x().marks()) {
      drawing.text(x(left, panel.x(), mark), TOP + HEIGHT + 15, "middle", Goal.number(mark));
    }
    drawing.path("M%d %dV%dH%d".formatted(left, TOP, TOP + HEIGHT, left + INNER), "black", "");
    drawing.text(left + INNER / 2.0, TOP + HEIGHT + 31, "middle", panel.x().title());
    drawing.text(left - 40, TOP - 28, "start", panel.y().title());
    for (Bar bar : panel.bars()) {
      double base = 0;
      for (int i = 0; i < bar.heights().size(); i++) {
        double top = base + bar.heights().get(i);
        double y = y(panel.y(), top);
        drawing.box(
            x(left, panel.x(), bar.at()) - BAR / 2.0,
            y,
            BAR,
            y(panel.y(), base) - y,
            bars.get(i).colour());
        base = top;
      }
    }
    for (Series series : panel.series()) {
      series(left, panel, series);
    }
  }

  private void series(int left, Panel panel, Series series) {
    StringBuilder path = new StringBuilder();
    for (double[] point : series.points()) {
      double x = x(left, panel.x(), point[0]);
      double y = y(panel.y(), point[1]);
      path.append(String.format(Locale.ROOT, "%s%.1f %.1f", path.isEmpty() ? "M" : "L", x, y));
      if (series.isLine()) {
        drawing.circle(x, y, series.colour());
      } else {
        drawing.cross(x, y, series.colour());
      }
    }
    if (series.isLine() && series.points().size() > 1) {
      drawing.path(path.toString(), series.colour(), "");
    }
  }

  private void legend(List<Series> named, int bars) {
    int y = TOP + HEIGHT + 60;
    for (int i = 0; i < named.size(); i++) {
      Series each = named.get(i);
      double x = 20 + (i % 4) * LEGEND_SPACING;
      int row = i / 4;
      double line = y + 17.0 * row;
      if (i < bars) {
        drawing.box(x - 6, line - 9, 12, 10, each.colour());
      } else if (each.isLine()) {
        drawing.line(x - 9, line - 4, x + 9, line - 4, each.colour(), "");
        drawing.circle(x, line - 4, each.colour());
      } else {
        drawing.cross(x, line - 4, each.colour());
      }
      drawing.text(x + 14, line, "start", each.name());
    }
  }

  private static double x(int left, Axis axis, double value) {
    return left + 15 + (INNER - 30) * axis.place(value);
  }

  private static double y(Axis axis, double value) {
    return TOP + HEIGHT * (1 - axis.place(value));
  }
}
