package io.partita.ir.program;

/** The outcome of a run-time comparison that decides which guarded regions run. */
public enum Verdict {
  /** The comparison is true: an approximation was close enough. */
  HIT("hits"),
  /** The comparison is false. */
  MISS("misses");

  private final String text;

  Verdict(String text) {
    this.text = text;
  }

  /** Returns the name of a run in which each comparison has this outcome. */
  public String text() {
    return text;
  }
}
