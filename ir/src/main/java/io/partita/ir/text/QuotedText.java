package io.partita.ir.text;

import java.util.regex.Pattern;

/**
 * Strings in quotes: {@code \"}, {@code \\}, {@code \n}, {@code \r}, {@code \t}, and {@code
 * \}{@code u{2028}} for invisible characters and lone surrogates.
 */
final class QuotedText {
  private static final Pattern NAME = Pattern.compile("[A-Za-z_][A-Za-z0-9_./]*");
  private static final Pattern WORD = Pattern.compile("[A-Za-z_][A-Za-z0-9_.]*");

  private QuotedText() {}

  /** Returns the name of a value or a graph, quoted only if necessary. */
  static void writeName(StringBuilder out, String name) {
    if (NAME.matcher(name).matches()) {
      out.append(name);
    } else {
      write(out, name);
    }
  }

  /** Returns a symbol, quoted only if necessary. */
  static void writeWord(StringBuilder out, String name) {
    if (WORD.matcher(name).matches()) {
      out.append(name);
    } else {
      write(out, name);
    }
  }

  static void write(StringBuilder out, String text) {
    out.append('"');
    text.codePoints().forEach(point -> writePoint(out, point));
    out.append('"');
  }

  private static void writePoint(StringBuilder out, int point) {
    switch (point) {
      case '"' -> out.append("\\\"");
      case '\\' -> out.append("\\\\");
      case '\n' -> out.append("\\n");
      case '\r' -> out.append("\\r");
      case '\t' -> out.append("\\t");
      default -> {
        if (isHidden(point)) {
          out.append("\\u{").append(Integer.toHexString(point)).append('}');
        } else {
          out.appendCodePoint(point);
        }
      }
    }
  }

  private static boolean isHidden(int point) {
    return switch (Character.getType(point)) {
      case Character.CONTROL,
          Character.FORMAT,
          Character.SURROGATE,
          Character.LINE_SEPARATOR,
          Character.PARAGRAPH_SEPARATOR,
          Character.UNASSIGNED ->
          true;
      default -> false;
    };
  }

  /**
   * Returns the name in {@code token} after its first character, quoted or not; null as in {@link
   * #read}.
   */
  static String readName(String token) {
    return token.charAt(1) == '"' ? read(token.substring(1)) : token.substring(1);
  }

  /** Returns the text of a quoted token, or null if it has an invalid escape. */
  static String read(String token) {
    StringBuilder text = new StringBuilder(token.length() - 2);
    int end = token.length() - 1;
    for (int i = 1; i < end; i++) {
      char character = token.charAt(i);
      if (character != '\\') {
        text.append(character);
        continue;
      }
      i++;
      switch (token.charAt(i)) {
        case '"' -> text.append('"');
        case '\\' -> text.append('\\');
        case 'n' -> text.append('\n');
        case 'r' -> text.append('\r');
        case 't' -> text.append('\t');
        case 'u' -> {
          int close = token.indexOf('}', i);
          int point = codePoint(token, i + 1, close);
          if (point < 0) {
            return null;
          }
          text.appendCodePoint(point);
          i = close;
        }
        default -> {
          return null;
        }
      }
    }
    return text.toString();
  }

  /** Parses <code>{2028}</code>; returns -1 if it is invalid. */
  private static int codePoint(String token, int open, int close) {
    if (token.charAt(open) != '{' || close < open + 2 || close > open + 7) {
      return -1;
    }
    int point = 0;
    for (int i = open + 1; i < close; i++) {
      int digit = Character.digit(token.charAt(i), 16);
      if (digit < 0) {
        return -1;
      }
      point = point * 16 + digit;
    }
    return Character.isValidCodePoint(point) ? point : -1;
  }
}
