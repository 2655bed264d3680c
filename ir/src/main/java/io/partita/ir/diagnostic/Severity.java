package io.partita.ir.diagnostic;

/** The severity of a diagnostic: errors stop a command, others don't. */
public enum Severity {
  ERROR,
  WARNING,
  NOTE
}
