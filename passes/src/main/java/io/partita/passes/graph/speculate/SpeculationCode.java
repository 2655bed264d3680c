package io.partita.passes.graph.speculate;

import io.partita.ir.diagnostic.DiagnosticCode;
import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.diagnostic.Severity;

/** Diagnostics of attention-level speculation. */
public enum SpeculationCode implements DiagnosticCode {
  OPTIONS("P4241", "the options of speculation are invalid"),
  CONTEXT("P4242", "the context is too short for speculation"),
  ATTENTION("P4243", "the model has no attention to speculate on"),
  GROUPS("P4244", "two groups of devices can't speculate");

  private final String id;
  private final String title;

  SpeculationCode(String id, String title) {
    this.id = id;
    this.title = title;
  }

  public PartitaException at(String where, String expected, Object found, String remedy) {
    return new PartitaException(this, where, expected, String.valueOf(found), remedy);
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
