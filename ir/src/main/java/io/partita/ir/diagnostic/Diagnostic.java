package io.partita.ir.diagnostic;

/**
 * One message to the user. All parts are one line; an empty part isn't printed.
 *
 * @param code what kind of trouble this is
 * @param where node, operator, file, line: the place that the user can look at
 * @param expected what would have been right
 * @param found what was there instead
 * @param remedy what the user can do
 */
public record Diagnostic(
    DiagnosticCode code, String where, String expected, String found, String remedy) {
  private static final int LONGEST_PART = 600;

  public Diagnostic {
    where = oneLine(where);
    expected = oneLine(expected);
    found = oneLine(found);
    remedy = oneLine(remedy);
  }

  /** Names come from files that nobody has vetted: control characters and endless names are cut. */
  private static String oneLine(String part) {
    String clean = part.replaceAll("[\\p{Cntrl}\\p{Cf}]+", " ").strip();
    return clean.length() <= LONGEST_PART ? clean : clean.substring(0, LONGEST_PART) + "…";
  }

  /** {@code error P2001: title}, then a line for each part. */
  @Override
  public String toString() {
    StringBuilder text = new StringBuilder();
    text.append(code.severity().name().toLowerCase(java.util.Locale.ROOT));
    text.append(' ').append(code.id()).append(": ").append(code.title());
    line(text, "where", where);
    line(text, "expected", expected);
    line(text, "found", found);
    line(text, "fix", remedy);
    return text.toString();
  }

  private static void line(StringBuilder text, String label, String part) {
    if (!part.isEmpty()) {
      text.append("\n  ")
          .append(label)
          .append(':')
          .append(" ".repeat(10 - label.length()))
          .append(part);
    }
  }
}
