package io.partita.ir.target;

/** The value of a figure: a quantity, a text, or the value of a parameter. */
public sealed interface FigureValue permits Quantity, FigureValue.Text, FigureValue.ParameterUse {
  /** A text, such as the name of an instruction set. */
  record Text(String text) implements FigureValue {}

  /**
   * The value of one of the target's parameters.
   *
   * @param current the current value of the parameter
   */
  record ParameterUse(String parameter, Quantity current) implements FigureValue {}
}
