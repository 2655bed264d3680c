package io.partita.ir.syntax;

import org.antlr.v4.runtime.Token;

/** Locations in a text: the file, and the line and column from 1. */
public record Places(String file) {
  private static final int MAX_TOKEN_LENGTH = 80;

  public String of(Token token) {
    return of(token.getLine(), token.getCharPositionInLine());
  }

  /**
   * @param line the line, from 1
   * @param column the column, from 0 as in ANTLR
   */
  public String of(int line, int column) {
    return file + ":" + line + ":" + (column + 1);
  }

  /** Returns the text of a token for messages. */
  public static String text(Token token) {
    if (token.getType() == Token.EOF) {
      return "the end of the text";
    }
    String text = token.getText();
    return text.length() <= MAX_TOKEN_LENGTH ? text : text.substring(0, MAX_TOKEN_LENGTH) + "…";
  }
}
