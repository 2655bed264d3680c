package io.partita.ir.diagnostic;

/**
 * A message to the user. Each part is one line; empty parts aren't printed.
 *
 * @param code the kind of diagnostic
 * @param where the location: a node, operator, file or line
 * @param expected what is expected
 * @param found what was found instead
 * @param remedy what the user can do
 */
public record Diagnostic(
    DiagnosticCode code, String where, String expected, String found, String remedy) {
  private static final int MAX_PART_LENGTH = 600;

  public Diagnostic {
    where = oneLine(where);
    expected = oneLine(expected);
    found = oneLine(found);
    remedy = oneLine(remedy);
  }

  /** Removes control characters and truncates long names, which may come from untrusted files. */
  private static String oneLine(String part) {
    String clean = part.replaceAll("[\\p{Cntrl}\\p{Cf}]+", " ").strip();
    return clean.length() <= MAX_PART_LENGTH ? clean : clean.substring(0, MAX_PART_LENGTH) + "…";
  }

  /** Returns {@code error P2001: title}, then a line for each part. */
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
