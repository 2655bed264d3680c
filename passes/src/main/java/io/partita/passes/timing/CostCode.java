package io.partita.passes.timing;

import io.partita.ir.diagnostic.DiagnosticCode;
import io.partita.ir.diagnostic.Severity;

/** Why something can't be estimated. */
public enum CostCode implements DiagnosticCode {
  NO_THROUGHPUT("P4151", "the target states no speed for a kernel"),
  TOO_LARGE("P4152", "a tensor is too large to count its bytes");

  private final String id;
  private final String title;

  CostCode(String id, String title) {
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
