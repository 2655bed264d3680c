package io.partita.backend.java.code;

/** Makes any text from a model safe for a comment. */
final class Comments {
  private static final int MAX_LENGTH = 200;

  private Comments() {}

  /** Returns one line of printable ASCII without comment ends or Unicode escapes. */
  static String clean(String text) {
    String line = text.replaceAll("[^\\x20-\\x7e]", "?").replace('\\', '/').replace("*/", "* /");
    return line.length() <= MAX_LENGTH ? line : line.substring(0, MAX_LENGTH) + "...";
  }

  /** The same for Javadoc, with tags and entities escaped. */
  static String javadoc(String text) {
    return clean(text)
        .replace("&", "&amp;")
        .replace("<", "&lt;")
        .replace(">", "&gt;")
        .replace("@", "&#64;")
        .replace("{", "&#123;");
  }
}
