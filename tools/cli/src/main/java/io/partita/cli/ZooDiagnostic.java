package io.partita.cli;

import io.partita.ir.diagnostic.DiagnosticCode;
import io.partita.ir.diagnostic.Severity;

/** Diagnostics of requests to the model zoo. */
enum ZooDiagnostic implements DiagnosticCode {
  NOT_IN_THE_ZOO("P6101", "the zoo has no such model");

  private final String id;
  private final String title;

  ZooDiagnostic(String id, String title) {
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
