package io.partita.ir.eval;

import io.partita.ir.diagnostic.PartitaException;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What a compiled program says when an input holds a value outside of its {@link
 * io.partita.ir.graph.InputRange}, the same in all languages: {@code input position: expected 0 to
 * 255, found 5000}.
 */
public final class RefusedInput {
  private static final Pattern MESSAGE =
      Pattern.compile("input (.*?): expected (-?\\d+ to -?\\d+), found (-?\\d+)");

  private RefusedInput() {}

  /** The diagnostic that the evaluator gives too, if a program said that. */
  public static Optional<PartitaException> in(String said) {
    Matcher message = MESSAGE.matcher(said);
    return message.find()
        ? Optional.of(
            new PartitaException(
                EvaluationCode.INDEX_OUT_OF_RANGE,
                "input \"" + message.group(1) + "\"",
                message.group(2),
                message.group(3),
                "give values in this range"))
        : Optional.empty();
  }
}
