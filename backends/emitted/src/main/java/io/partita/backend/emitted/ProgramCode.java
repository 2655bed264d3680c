package io.partita.backend.emitted;

import io.partita.ir.diagnostic.DiagnosticCode;
import io.partita.ir.diagnostic.Severity;

/** What can go wrong with emitted programs. */
public enum ProgramCode implements DiagnosticCode {
  DESCRIPTOR("P5101", "the emitted program's description can't be read"),
  NO_PROGRAM("P5102", "a tool that builds or runs emitted programs is missing"),
  BUILD_FAILED("P5103", "the emitted program doesn't compile"),
  PROGRAM_STOPPED("P5104", "the emitted program stopped"),
  TOO_MANY_CHIPS("P5105", "a port has too few chips for the program"),
  REFERENCE("P5106", "the reference results of an emitted program can't be read"),
  PREDICTION("P5107", "the predicted figures of an emitted program can't be read"),
  NO_ROOM("P5108", "a chip has no room for the program's code beside its data");

  private final String id;
  private final String title;

  ProgramCode(String id, String title) {
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

  @Override
  public boolean isOfComputer() {
    return this == NO_PROGRAM;
  }

  @Override
  public boolean isOfEmittedCode() {
    return this == BUILD_FAILED || this == PROGRAM_STOPPED;
  }
}
