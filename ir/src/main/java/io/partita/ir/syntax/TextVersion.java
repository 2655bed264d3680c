package io.partita.ir.syntax;

import io.partita.ir.diagnostic.PartitaException;
import org.antlr.v4.runtime.Token;
import org.antlr.v4.runtime.TokenStream;

/**
 * What a text begins with: the name of its form, and the version of that form. A version is raised
 * when texts of the one before would be read otherwise or not at all.
 */
public enum TextVersion {
  /** Of modules and programs. */
  PIR("pir", 1, "make the text again by partita opt"),
  /** Of schedules. */
  SCHEDULE("sched", 1, "make the text again by partita opt"),
  /** Of target descriptions. */
  TARGET("target", 1, "compare the text with docs/targets.md");

  private final String form;
  private final String number;
  private final String remedy;

  TextVersion(String form, int number, String remedy) {
    this.form = form;
    this.number = Integer.toString(number);
    this.remedy = remedy + "; if it has no version and is of this one, add the line";
  }

  /** Makes the diagnostic of a parser. */
  @FunctionalInterface
  public interface Mistake {
    PartitaException at(Token token, String expected, String found, String remedy);
  }

  /** The first line of a text. */
  public String line() {
    return form + " " + number + "\n";
  }

  /** Whether a text that begins with a token states its form. */
  public boolean begins(Token first) {
    return form.equals(first.getText());
  }

  /** Checks the first two tokens of a text, which remain in the stream. */
  public void require(TokenStream tokens, Mistake mistake) {
    Token first = tokens.LT(1);
    if (!begins(first)) {
      throw mistake.at(first, expected(), Places.text(first), remedy);
    }
    Token version = tokens.LT(2);
    if (!number.equals(version.getText())) {
      throw mistake.at(version, expected(), form + " " + Places.text(version), remedy);
    }
  }

  private String expected() {
    return form + " " + number + " at the beginning";
  }
}
