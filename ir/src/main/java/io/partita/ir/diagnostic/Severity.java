package io.partita.ir.diagnostic;

/** How a diagnostic ends what was asked: an error stops it, the others don't. */
public enum Severity {
  ERROR,
  WARNING,
  NOTE
}
