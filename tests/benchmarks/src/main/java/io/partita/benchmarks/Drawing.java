package io.partita.benchmarks;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** A picture as SVG, on white, so that it reads the same on light and dark pages. */
public final class Drawing {
  private final List<String> lines = new ArrayList<>();

  public Drawing(int width, int height) {
    add(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\""
            + " font-family=\"sans-serif\" font-size=\"11\">",
        width, height, width, height);
    add("<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>");
  }

  /**
   * @param anchor which part of the text is at x: {@code start}, {@code middle} or {@code end}
   */
  public void text(double x, double y, String anchor, String text) {
    text(x, y, anchor, text, "black");
  }

  public void text(double x, double y, String anchor, String text, String colour) {
    add(
        "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\" fill=\"%s\">%s</text>",
        x, y, anchor, colour, text.replace("&", "&amp;").replace("<", "&lt;"));
  }

  /**
   * @param dash the lengths of dashes and gaps; empty for none
   */
  public void line(double x, double y, double toX, double toY, String colour, String dash) {
    path(String.format(Locale.ROOT, "M%.1f %.1fL%.1f %.1f", x, y, toX, toY), colour, dash);
  }

  public void path(String path, String colour, String dash) {
    String dashes = dash.isEmpty() ? "" : " stroke-dasharray=\"" + dash + "\"";
    add("<path d=\"%s\" stroke=\"%s\" fill=\"none\"%s/>", path, colour, dashes);
  }

  public void circle(double x, double y, String colour) {
    circle(x, y, colour, colour);
  }

  public void circle(double x, double y, String colour, String fill) {
    add("<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3\" stroke=\"%s\" fill=\"%s\"/>", x, y, colour, fill);
  }

  public void cross(double x, double y, String colour) {
    add(
        "<path d=\"M%.1f %.1fl8 8m0 -8l-8 8\" stroke=\"%s\" stroke-width=\"2\" fill=\"none\"/>",
        x - 4, y - 4, colour);
  }

  public void box(double x, double y, double width, double height, String colour) {
    add(
        "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"%s\"/>",
        x, y, width, height, colour);
  }

  public String svg() {
    return String.join("\n", lines) + "\n</svg>\n";
  }

  private void add(String format, Object... values) {
    lines.add(String.format(Locale.ROOT, format, values));
  }
}
