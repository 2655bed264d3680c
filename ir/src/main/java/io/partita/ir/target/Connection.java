package io.partita.ir.target;

import io.partita.ir.target.Field.Range;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/**
 * A set of links between devices.
 *
 * @param link the name of the kind of link
 * @param figures the figures of the shape
 */
public record Connection(Shape shape, String link, Origin origin, Figures figures) {
  /** The shape of a connection. Except for a shared medium, links carry both directions at once. */
  public enum Shape {
    /** The devices {@code first} and {@code second}. */
    PAIR("pair", "first", "second"),
    /** Every pair of devices. */
    FULL("full"),
    /** Each device and the next. */
    LINE("line"),
    /** Each device and the next, and the last and the first. */
    RING("ring"),
    /**
     * Groups of {@code group} devices, with links between the first and each other; the first
     * devices form groups in turn, and so on.
     */
    TREE("tree", "group"),
    /** The neighbours in each row of a grid with rows of {@code width} devices. */
    ROWS("rows", "width"),
    /** The neighbours in each column of a grid with rows of {@code width} devices. */
    COLUMNS("columns", "width"),
    /**
     * A link from each device to a switch, which delivers messages as they arrive. What a device
     * sends shares its link; receiving takes no time of its own.
     */
    SWITCH("switch"),
    /** A medium between all devices that carries one message at a time. */
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

  /** Returns text such as {@code tree of mipi} or {@code 0 - 3 of mipi}. */
  public String name() {
    String what = shape == Shape.PAIR ? number("first") + " - " + number("second") : shape.text();
    return what + " of " + link;
  }
}
