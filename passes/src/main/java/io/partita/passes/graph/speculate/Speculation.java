package io.partita.passes.graph.speculate;

import io.partita.ir.graph.Node;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The options of attention-level speculation ("Attention-Level Speculation", section 3).
 *
 * @param lambda an approximate attention Ã is accepted if ||Ã - A|| &lt; lambda ||A||; 0 accepts
 *     none
 * @param chunk the number of tokens in a chunk; the approximation reads the first chunk and the one
 *     of the query
 * @param guess how the group that runs ahead gets the approximation
 */
public record Speculation(double lambda, long chunk, Guess guess) {
  /** How the group that runs ahead gets the approximation. */
  public enum Guess {
    /** It computes it from its own caches. */
    COMPUTED,
    /** The group that has the exact input computes it, and sends it. */
    SENT;

    private String text() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  private static final Pattern LAMBDA = Pattern.compile("[0-9]+(\\.[0-9]+)?|\\.[0-9]+");
  private static final Pattern CHUNK = Pattern.compile("[1-9][0-9]{0,8}");
  private static final Pattern GUESS = Pattern.compile("computed|sent");
  private static final String FORM =
      "lambda=L,chunk=C[,guess=computed|sent], such as lambda=0.1,chunk=128";
  private static final String FIX = "write lambda and chunk, each option once";

  /** A guess that both groups compute. */
  public Speculation(double lambda, long chunk) {
    this(lambda, chunk, Guess.COMPUTED);
  }

  /**
   * Reads {@code lambda=0.1,chunk=128}.
   *
   * @param where the option, for diagnostics
   * @throws io.partita.ir.diagnostic.PartitaException with {@link SpeculationCode#OPTIONS}
   */
  public static Speculation parse(String where, String text) {
    Map<String, String> given = new LinkedHashMap<>();
    for (String option : text.split(",", -1)) {
      String[] parts = option.split("=", 2);
      if (parts.length < 2 || given.put(parts[0].strip(), parts[1].strip()) != null) {
        throw SpeculationCode.OPTIONS.at(where, FORM, text, FIX);
      }
    }
    return of(where, given);
  }

  /**
   * Reads options by name.
   *
   * @throws io.partita.ir.diagnostic.PartitaException with {@link SpeculationCode#OPTIONS}
   */
  public static Speculation of(String where, Map<String, String> options) {
    if (!List.of("lambda", "chunk", "guess").containsAll(options.keySet())
        || !options.containsKey("lambda")
        || !options.containsKey("chunk")) {
      throw SpeculationCode.OPTIONS.at(where, FORM, options, FIX);
    }
    return new Speculation(
        Double.parseDouble(
            matched(where, "lambda", LAMBDA, "a number of 0 or more", options.get("lambda"))),
        Long.parseLong(
            matched(where, "chunk", CHUNK, "1 to 999999999 tokens", options.get("chunk"))),
        Guess.valueOf(
            matched(
                    where,
                    "guess",
                    GUESS,
                    "computed or sent",
                    options.getOrDefault("guess", Guess.COMPUTED.text()))
                .toUpperCase(Locale.ROOT)));
  }

  private static String matched(
      String where, String option, Pattern pattern, String expected, String found) {
    Matcher matcher = pattern.matcher(found);
    if (!matcher.matches()) {
      throw SpeculationCode.OPTIONS.at(
          where + ", " + option, expected, found, "correct " + option + "; " + FORM);
    }
    return found;
  }

  /**
   * Checks that the keys of an attention have two chunks or more.
   *
   * @throws io.partita.ir.diagnostic.PartitaException with {@link SpeculationCode#CONTEXT}
   */
  public void requireChunks(Node attention) {
    long keys = attention.operand(1).type().shape().extent(2);
    if (keys < 2 * chunk) {
      throw SpeculationCode.CONTEXT.at(
          attention.toString(),
          "a context of 2 chunks or more: " + 2 * chunk + " tokens",
          keys + " tokens",
          keys < 2
              ? "speculate on a model with a longer context"
              : "choose chunk=" + keys / 2 + " or less, or a longer context");
    }
  }

  @Override
  public String toString() {
    String way = guess == Guess.COMPUTED ? "" : ",guess=" + guess.text();
    return "lambda=" + lambda + ",chunk=" + chunk + way;
  }
}
