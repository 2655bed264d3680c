package io.partita.backend.siracusa.code;

import java.util.Locale;

/** Makes text of a model fit for a comment in C, whatever the model's author wrote. */
public final class Comments {
  private static final int LONGEST = 200;

  private Comments() {}

  /** One line of printable ASCII that neither ends nor begins a comment. */
  public static String clean(String text) {
    String line =
        text.replace("×", "x")
            .replace("→", "->")
            .replaceAll("[^\\x20-\\x7e]", "?")
            .replace('\\', '/')
            .replace("*/", "* /")
            .replace("/*", "/ *")
            .replace("*/", "* /");
    return line.length() <= LONGEST ? line : line.substring(0, LONGEST) + "...";
  }

  /** A string literal with its quotes. */
  public static String quoted(String text) {
    StringBuilder quoted = new StringBuilder("\"");
    for (char c : text.toCharArray()) {
      if (c < ' ' || c > '~' || c == '"' || c == '\\' || c == '?') {
        // Of each character its lower 8 bits; three octal digits end an escape for certain.
        quoted.append("\\%03o".formatted(c < 256 ? (int) c : (int) '?'));
      } else {
        quoted.append(c);
      }
    }
    return quoted.append('"').toString();
  }

  /** A number with commas, as in 65,536, whatever the locale. */
  public static String grouped(long number) {
    return String.format(Locale.ROOT, "%,d", number);
  }
}
