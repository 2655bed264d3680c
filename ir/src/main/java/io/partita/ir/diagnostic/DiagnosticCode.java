package io.partita.ir.diagnostic;

/**
 * A kind of diagnostic. Each module has its own enums; ids are globally unique and never reused:
 * {@code P1xxx} reading files, {@code P2xxx} ONNX import, {@code P3xxx} IR and its text form,
 * {@code P4xxx} passes, {@code P5xxx} backends, {@code P6xxx} command line.
 */
public interface DiagnosticCode {
  /** The id, such as {@code P2001}. */
  String id();

  Severity severity();

  /** The title: one line without details. */
  String title();

  /** Whether it tells of this computer, such as a full disk or a missing tool, not of a model. */
  default boolean isOfComputer() {
    return false;
  }

  /** Whether it tells that emitted code is faulty: it doesn't compile, or stops with an error. */
  default boolean isOfEmittedCode() {
    return false;
  }
}
