package io.partita.ir.target;

import io.partita.ir.diagnostic.DiagnosticCode;
import io.partita.ir.diagnostic.Severity;

/** Diagnostics of target descriptions and references to them. */
public enum TargetCode implements DiagnosticCode {
  SYNTAX("P3301", "the target description has a syntax error"),
  UNIT("P3302", "a quantity has the wrong unit"),
  UNKNOWN_FIGURE("P3303", "there is no such figure"),
  MISSING_FIGURE("P3304", "a figure is missing"),
  DUPLICATE("P3305", "a name is defined twice"),
  UNDEFINED("P3306", "a name is undefined"),
  RANGE("P3307", "a figure is out of its range"),
  NO_WAY_TO_MEMORY("P3308", "a memory can't be reached from the cores"),
  UNREACHABLE("P3309", "devices can't reach each other"),
  ARGUMENT("P3310", "a parameter of the target is wrong"),
  UNKNOWN_TARGET("P3311", "there is no such target"),
  FILE("P3312", "the target description can't be read"),
  INCOMPLETE("P3313", "a part of the target is missing"),
  VERSION("P3314", "the target description has no version, or one that this Partita doesn't read");

  private final String id;
  private final String title;

  TargetCode(String id, String title) {
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
