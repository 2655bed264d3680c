package io.partita.cli;

import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;

/** The loss budget of {@code --max-loss}. */
final class Percentage {
  private Percentage() {}

  /**
   * Returns a percentage as a fraction.
   *
   * @throws ParameterException if the text isn't one
   */
  static double parse(String text, CommandSpec spec) {
    if (text.matches("[0-9]{1,4}(\\.[0-9]{1,9})?%")) {
      return Double.parseDouble(text.substring(0, text.length() - 1)) / 100;
    }
    throw new ParameterException(
        spec.commandLine(), "--max-loss takes a percentage such as 1% or 0.5%, not " + text);
  }
}
