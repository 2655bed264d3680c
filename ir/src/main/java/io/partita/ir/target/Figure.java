package io.partita.ir.target;

/** A fact about a target, and its source. */
public record Figure(FigureValue value, Origin origin) {
  /**
   * @throws IllegalStateException if it is a text
   */
  public Quantity quantity() {
    return switch (value) {
      case Quantity quantity -> quantity;
      case FigureValue.ParameterUse use -> use.current();
      case FigureValue.Text text -> throw new IllegalStateException(text + " is not a quantity");
    };
  }

  /**
   * @throws IllegalStateException if it is a quantity
   */
  public String text() {
    if (value instanceof FigureValue.Text(String text)) {
      return text;
    }
    throw new IllegalStateException(value + " is not a text");
  }
}
