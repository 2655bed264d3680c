package io.partita.passes.planning.search;

import io.partita.ir.diagnostic.DiagnosticCode;
import io.partita.ir.diagnostic.Severity;

/** Diagnostics of the search. */
public enum PlanCode implements DiagnosticCode {
  DEVICES("P4301", "the number of devices can't be used"),
  NO_STRATEGY("P4302", "no strategy can be used");

  private final String id;
  private final String title;

  PlanCode(String id, String title) {
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
