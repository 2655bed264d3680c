package io.partita.backend.siracusa.code;

import java.nio.charset.StandardCharsets;
import java.util.Locale;

/** Makes any text from a model safe for a comment in C. */
public final class Comments {
  private static final int MAX_LENGTH = 200;

  private Comments() {}

  /**
   * Returns one line of printable ASCII without trigraphs that neither begins nor ends a comment.
   */
  public static String clean(String text) {
    String line =
        text.replace("×", "x")
            .replace("→", "->")
            .replaceAll("[^\\x20-\\x7e]", "?")
            .replaceAll("\\?(?=\\?)", "? ")
            .replace('\\', '/')
            .replace("*/", "* /")
            .replace("/*", "/ *")
            .replace("*/", "* /");
    return line.length() <= MAX_LENGTH ? line : line.substring(0, MAX_LENGTH) + "...";
  }

  /** Returns a string literal of a text in UTF-8, including its quotes. */
  public static String quoted(String text) {
    StringBuilder quoted = new StringBuilder("\"");
    for (byte b : text.getBytes(StandardCharsets.UTF_8)) {
      if (b < ' ' || b > '~' || b == '"' || b == '\\' || b == '?') {
        // An escape has at most three octal digits.
        quoted.append("\\%03o".formatted(Byte.toUnsignedInt(b)));
      } else {
        quoted.append((char) b);
      }
    }
    return quoted.append('"').toString();
  }

  /** Returns a number with commas, as in 65,536, in any locale. */
  public static String grouped(long number) {
    return String.format(Locale.ROOT, "%,d", number);
  }
}
