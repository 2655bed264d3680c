package io.partita.backend.java.code;

/** Makes text of a model fit for a comment, whatever the model's author wrote. */
final class Comments {
  private static final int LONGEST = 200;

  private Comments() {}

  /** One line of printable ASCII without comment ends or unicode escapes. */
  static String clean(String text) {
    String line = text.replaceAll("[^\\x20-\\x7e]", "?").replace('\\', '/').replace("*/", "* /");
    return line.length() <= LONGEST ? line : line.substring(0, LONGEST) + "...";
  }

  /** The same for Javadoc, where tags and entities mean something. */
  static String javadoc(String text) {
    return clean(text)
        .replace("&", "&amp;")
        .replace("<", "&lt;")
        .replace(">", "&gt;")
        .replace("@", "&#64;")
        .replace("{", "&#123;");
  }
}
