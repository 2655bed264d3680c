package io.partita.ir.schedule;

import io.partita.ir.diagnostic.DiagnosticCode;
import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.diagnostic.Severity;

/** Diagnostics of invalid schedules, which are always internal errors. */
public enum ScheduleFault implements DiagnosticCode {
  TILES("P4411", "tiles of a schedule are inconsistent"),
  MEMORY("P4412", "a schedule uses memory of another value"),
  TRANSFER("P4413", "a transfer of a schedule isn't awaited exactly once"),
  CALL("P4414", "a kernel of a schedule accesses elements outside its tiles");

  private final String id;
  private final String title;

  ScheduleFault(String id, String title) {
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

  /**
   * @throws PartitaException unless the condition holds
   */
  public void require(boolean condition, String where, Object expected, Object found) {
    if (!condition) {
      throw at(where, expected, found);
    }
  }

  /** Returns a diagnostic of this kind at a location. */
  public PartitaException at(String where, Object expected, Object found) {
    return new PartitaException(
        this,
        where,
        expected.toString(),
        found.toString(),
        "this is a bug in Partita; please report it with the model and the command");
  }
}
