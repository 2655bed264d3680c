package io.partita.passes.planning.residency;

import io.partita.ir.diagnostic.DiagnosticCode;
import io.partita.ir.diagnostic.Severity;

/** Diagnostics of programs that can't run on a device. */
public enum ResidencyCode implements DiagnosticCode {
  DOES_NOT_FIT("P4161", "a program doesn't fit a device's memory"),
  DEVICES("P4162", "a program needs more devices than the target has");

  private final String id;
  private final String title;

  ResidencyCode(String id, String title) {
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
