package io.partita.ir.syntax;

import org.antlr.v4.runtime.Token;

/** Places in one text: the file, the line and the column, from 1. */
public record Places(String file) {
  private static final int LONGEST_TOKEN = 80;

  public String of(Token token) {
    return of(token.getLine(), token.getCharPositionInLine());
  }

  /**
   * @param line from 1
   * @param column from 0, as ANTLR counts
   */
  public String of(int line, int column) {
    return file + ":" + line + ":" + (column + 1);
  }

  /** What a message shows of a token. */
  public static String text(Token token) {
    if (token.getType() == Token.EOF) {
      return "the end of the text";
    }
    String text = token.getText();
    return text.length() <= LONGEST_TOKEN ? text : text.substring(0, LONGEST_TOKEN) + "…";
  }
}
