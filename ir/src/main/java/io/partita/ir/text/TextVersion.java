package io.partita.ir.text;

import io.partita.ir.diagnostic.PartitaException;
import java.util.function.Supplier;
import org.antlr.v4.runtime.Token;

/**
 * What a text begins with: the name of its form, and the version of that form. A version is raised
 * when texts of the one before would be read otherwise or not at all.
 */
enum TextVersion {
  /** Of modules and programs. */
  PIR("pir", 1),
  /** Of schedules. */
  SCHEDULE("sched", 1);

  private static final String REMEDY =
      "make the text again by partita opt; add the line to one that you wrote yourself";

  private final String form;
  private final int number;

  TextVersion(String form, int number) {
    this.form = form;
    this.number = number;
  }

  /** The first line of a text. */
  String line() {
    return this + "\n";
  }

  /** Whether a text that begins with a token states its form. */
  boolean begins(Token first) {
    return form.equals(first.getText());
  }

  /**
   * Checks the beginning of a text.
   *
   * @param stated parses the form and its version, and returns the version
   * @throws PartitaException {@link TextCode#VERSION}
   */
  void require(Locator locator, Token first, Supplier<Token> stated) {
    if (!begins(first)) {
      throw locator.error(TextCode.VERSION, first, expected(), REMEDY);
    }
    Token version = stated.get();
    if (!version.getText().equals(Integer.toString(number))) {
      String found = "\"" + form + " " + version.getText() + "\"";
      throw locator.error(TextCode.VERSION, version, expected(), found, REMEDY);
    }
  }

  private String expected() {
    return "\"" + this + "\" at the beginning";
  }

  @Override
  public String toString() {
    return form + " " + number;
  }
}
