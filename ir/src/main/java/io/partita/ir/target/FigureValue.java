package io.partita.ir.target;

/** What a figure says: a quantity, a word or sentence, or the value of a parameter. */
public sealed interface FigureValue permits Quantity, FigureValue.Text, FigureValue.ParameterUse {
  /** Words, such as the name of an instruction set. */
  record Text(String text) implements FigureValue {}

  /**
   * The value of one of the target's parameters.
   *
   * @param current the value that the parameter has now
   */
  record ParameterUse(String parameter, Quantity current) implements FigureValue {}
}
