package io.partita.ir.eval;

import io.partita.ir.diagnostic.DiagnosticCode;
import io.partita.ir.diagnostic.Severity;

/** Diagnostics of evaluation. */
public enum EvaluationCode implements DiagnosticCode {
  INPUT_MISMATCH("P3201", "an input doesn't fit the graph"),
  INDEX_OUT_OF_RANGE("P3202", "an index is out of range"),
  UNBOUND_DIMENSION("P3203", "a dimension is not bound to a number"),
  TOO_LARGE("P3204", "a tensor is too large to evaluate"),
  EMPTY_LINE("P3205", "an operation needs at least one element along its axis");

  private final String id;
  private final String title;

  EvaluationCode(String id, String title) {
    this.id = id;
    this.title = title;
  }

  @Override
  public String id() {
    return id;
  }

  @Override
  public Severity severity() {
    return Severity.ERROR;
  }

  @Override
  public String title() {
    return title;
  }
}
