package io.partita.cli;

import java.io.FilterWriter;
import java.io.IOException;
import java.io.Writer;

/**
 * Replaces control characters by visible ones. Names come from untrusted files, and escape
 * sequences in them could control the terminal.
 */
final class VisibleText extends FilterWriter {
  private static final char INSTEAD = '\ufffd';

  VisibleText(Writer out) {
    super(out);
  }

  @Override
  public void write(char[] characters, int offset, int length) throws IOException {
    char[] visible = new char[length];
    for (int i = 0; i < length; i++) {
      visible[i] = visible(characters[offset + i]);
    }
    out.write(visible, 0, length);
  }

  @Override
  public void write(String text, int offset, int length) throws IOException {
    write(text.toCharArray(), offset, length);
  }

  @Override
  public void write(int character) throws IOException {
    out.write(visible((char) character));
  }

  private static char visible(char character) {
    boolean moves = character == '\n' || character == '\r' || character == '\t';
    return Character.isISOControl(character) && !moves ? INSTEAD : character;
  }
}
