package io.partita.ir.text;

import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.syntax.Places;
import org.antlr.v4.runtime.Token;

/** Creates the diagnostics of a text, with the file, and the line and column from 1. */
record Locator(String file) {
  PartitaException error(TextCode code, Token token, String expected, String found, String remedy) {
    return new PartitaException(code, place(token), expected, found, remedy);
  }

  /** Creates a diagnostic for a token. */
  PartitaException error(TextCode code, Token token, String expected, String remedy) {
    return error(code, token, expected, text(token), remedy);
  }

  String place(Token token) {
    return new Places(file).of(token);
  }

  static String text(Token token) {
    return Places.text(token);
  }
}
