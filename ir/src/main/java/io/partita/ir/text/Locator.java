package io.partita.ir.text;

import io.partita.ir.diagnostic.PartitaException;
import org.antlr.v4.runtime.Token;

/** Makes the diagnostics of one text: each names the file, the line and the column, from 1. */
record Locator(String file) {
  private static final int LONGEST_TOKEN = 80;

  PartitaException error(TextCode code, Token token, String expected, String found, String remedy) {
    return new PartitaException(code, place(token), expected, found, remedy);
  }

  /** What was found is the token itself. */
  PartitaException error(TextCode code, Token token, String expected, String remedy) {
    return error(code, token, expected, text(token), remedy);
  }

  String place(Token token) {
    return place(token.getLine(), token.getCharPositionInLine());
  }

  String place(int line, int column) {
    return file + ":" + line + ":" + (column + 1);
  }

  static String text(Token token) {
    if (token.getType() == Token.EOF) {
      return "the end of the text";
    }
    String text = token.getText();
    return text.length() <= LONGEST_TOKEN ? text : text.substring(0, LONGEST_TOKEN) + "…";
  }
}
