package io.partita.ir.diagnostic;

import java.util.List;
import java.util.stream.Collectors;

/** A request that can't be fulfilled, with one or more diagnostics for the user. */
public final class PartitaException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final transient List<Diagnostic> diagnostics;

  public PartitaException(List<Diagnostic> diagnostics) {
    super(diagnostics.stream().map(Diagnostic::toString).collect(Collectors.joining("\n")));
    this.diagnostics = List.copyOf(diagnostics);
  }

  public PartitaException(
      DiagnosticCode code, String where, String expected, String found, String remedy) {
    this(List.of(new Diagnostic(code, where, expected, found, remedy)));
  }

  public List<Diagnostic> diagnostics() {
    return diagnostics;
  }
}
