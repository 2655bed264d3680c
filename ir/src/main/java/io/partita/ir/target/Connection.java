package io.partita.ir.target;

import io.partita.ir.target.Field.Range;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/**
 * Which devices have a link between them.
 *
 * @param link the kind of link
 * @param figures what the shape needs
 */
public record Connection(Shape shape, String link, Origin origin, Figures figures) {
  /** How the devices are joined. Links carry both directions at once, but for a shared medium. */
  public enum Shape {
    /** Two devices, {@code first} and {@code second}. */
    PAIR("pair", "first", "second"),
    /** Each with each. */
    FULL("full"),
    /** Each with the next. */
    LINE("line"),
    /** Each with the next, and the last with the first. */
    RING("ring"),
    /**
     * Groups of {@code group}, each member with the first; the firsts again in groups, and so on.
     */
    TREE("tree", "group"),
    /** A grid of {@code width} devices in a row: neighbours in a row. */
    ROWS("rows", "width"),
    /** A grid of {@code width} devices in a row: neighbours in a column. */
    COLUMNS("columns", "width"),
    /** One medium that carries one message at a time, from any to any. */
    SHARED("shared");

    private final String text;
    private final List<String> figures;

    Shape(String text, String... figures) {
      this.text = text;
      this.figures = List.of(figures);
    }

    public String text() {
      return text;
    }

    List<Field> fields() {
      Range range = this == PAIR ? Range.WHOLE : Range.POSITIVE_WHOLE;
      return figures.stream()
          .map(figure -> Field.required(figure, Dimension.COUNT, range))
          .toList();
    }

    static Optional<Shape> of(String text) {
      return Arrays.stream(values()).filter(shape -> shape.text.equals(text)).findFirst();
    }
  }

  int number(String figure) {
    return (int) figures.whole(figure);
  }

  /** {@code tree of mipi}, {@code 0 - 3 of mipi}. */
  public String name() {
    String what = shape == Shape.PAIR ? number("first") + " - " + number("second") : shape.text();
    return what + " of " + link;
  }
}
