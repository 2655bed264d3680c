package io.partita.passes.schedule;

import io.partita.ir.diagnostic.DiagnosticCode;
import io.partita.ir.diagnostic.Severity;

/** Diagnostics of scheduling. */
public enum ScheduleCode implements DiagnosticCode {
  NO_KERNEL("P4401", "there is no kernel for an operation"),
  HOME("P4403", "a program doesn't fit the home memory"),
  FAR("P4404", "weights and states don't fit the memory outside the chip");

  private final String id;
  private final String title;

  ScheduleCode(String id, String title) {
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
