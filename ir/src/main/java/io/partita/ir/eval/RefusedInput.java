package io.partita.ir.eval;

import io.partita.ir.diagnostic.PartitaException;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The message of a compiled program for an input value outside of its {@link
 * io.partita.ir.graph.InputRange}, equal in all languages: {@code input position: expected 0 to
 * 255, found 5000}.
 */
public final class RefusedInput {
  private static final Pattern MESSAGE =
      Pattern.compile("input (.*?): expected (-?\\d+ to -?\\d+), found (-?\\d+)");

  private RefusedInput() {}

  /**
   * Returns the diagnostic, which equals that of the evaluator, if a program printed such a
   * message.
   */
  public static Optional<PartitaException> in(String said) {
    Matcher message = MESSAGE.matcher(said);
    return message.find()
        ? Optional.of(
            new PartitaException(
                EvaluationCode.INDEX_OUT_OF_RANGE,
                "input \"" + message.group(1) + "\"",
                message.group(2),
                message.group(3),
                "give values in the range"))
        : Optional.empty();
  }
}
