package io.partita.ir.target;

import java.util.List;
import java.util.Optional;

/**
 * The name and the valid values of a figure.
 *
 * @param dimension the dimension of a quantity, or empty for a text
 * @param choices the valid texts, or empty if any text is valid
 */
record Field(
    String name,
    Optional<Dimension> dimension,
    Range range,
    List<String> choices,
    boolean required) {
  /** A range of valid quantities. */
  enum Range {
    ANY("0 or more"),
    POSITIVE("more than 0"),
    FRACTION("from 0 to 1"),
    WHOLE("a whole number"),
    POSITIVE_WHOLE("a whole number of at least 1"),
    POWER_OF_TWO("a power of two");

    private final String text;

    Range(String text) {
      this.text = text;
    }

    String text() {
      return text;
    }

    boolean holds(Quantity quantity) {
      double value = quantity.value();
      return switch (this) {
        case ANY -> true;
        case POSITIVE -> value > 0;
        case FRACTION -> value >= 0 && value <= 1;
        case WHOLE -> quantity.isWhole();
        case POSITIVE_WHOLE -> value > 0 && quantity.isWhole();
        case POWER_OF_TWO -> value > 0 && quantity.isWhole() && Long.bitCount((long) value) == 1;
      };
    }
  }

  static Field required(String name, Dimension dimension, Range range) {
    return new Field(name, Optional.of(dimension), range, List.of(), true);
  }

  static Field optional(String name, Dimension dimension, Range range) {
    return new Field(name, Optional.of(dimension), range, List.of(), false);
  }

  static Field text(String name, String... choices) {
    return new Field(name, Optional.empty(), Range.ANY, List.of(choices), true);
  }
}
