package io.partita.driver.text;

import java.util.ArrayList;
import java.util.List;

/**
 * Turns a growing sequence of tokens into text piece by piece. A piece never ends inside a
 * character: tokens may hold single bytes of it, and the text of a token may depend on the one
 * before.
 *
 * <p>The pieces together are the text of the whole sequence, with one exception: where tokens of
 * single bytes form characters and further ones form none, the library replaces all of them by
 * U+FFFD, also the characters that were returned before.
 */
public final class TextStream {
  private static final char INCOMPLETE = '\ufffd';

  private final Tokens tokens;
  private final List<Integer> sequence;

  /**
   * Decoding begins here: where the last piece began, so that the next one has its context. Inside
   * a character, its bytes would be decoded to U+FFFD.
   */
  private int context;

  /** The tokens up to here have been returned. */
  private int returned;

  /**
   * @param prompt the tokens whose text is known
   */
  public TextStream(Tokens tokens, List<Integer> prompt) {
    this.tokens = tokens;
    this.sequence = new ArrayList<>(prompt);
    this.returned = prompt.size();
  }

  /** Returns the text that a token completes, which may be empty. */
  public String add(int token) {
    sequence.add(token);
    String piece = piece();
    if (piece.isEmpty() || piece.charAt(piece.length() - 1) == INCOMPLETE) {
      return "";
    }
    return proceed(piece);
  }

  /** Returns the rest at the end of the sequence: bytes that make no character are U+FFFD. */
  public String end() {
    return proceed(piece());
  }

  private String piece() {
    String before = tokens.decode(sequence.subList(context, returned));
    String all = tokens.decode(sequence.subList(context, sequence.size()));
    return all.length() < before.length() ? "" : all.substring(before.length());
  }

  private String proceed(String piece) {
    context = returned;
    returned = sequence.size();
    return piece;
  }
}
