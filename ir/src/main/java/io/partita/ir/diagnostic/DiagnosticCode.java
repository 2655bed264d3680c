package io.partita.ir.diagnostic;

/**
 * A kind of diagnostic. Each module has an enum of its own; ids are unique over all of them and
 * never reused: {@code P1xxx} reading files, {@code P2xxx} ONNX import, {@code P3xxx} IR and its
 * text form, {@code P4xxx} passes, {@code P5xxx} backends, {@code P6xxx} command line.
 */
public interface DiagnosticCode {
  /** Such as {@code P2001}. */
  String id();

  Severity severity();

  /** One line that says what is wrong, without the particulars. */
  String title();
}
