package io.partita.passes.program.collective;

import io.partita.ir.diagnostic.DiagnosticCode;
import io.partita.ir.diagnostic.Severity;

/** Diagnostics of schedules of sends and receives. */
public enum CollectiveCode implements DiagnosticCode {
  STEP("P4101", "a step of a communication schedule is invalid"),
  UNMATCHED("P4102", "a send or a receive has no counterpart"),
  MISMATCH("P4103", "a receive doesn't match the message that arrives"),
  DEADLOCK("P4104", "devices wait for each other in a cycle"),
  RESULT("P4105", "a schedule doesn't compute the result of the collective");

  private final String id;
  private final String title;

  CollectiveCode(String id, String title) {
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
