package io.partita.passes.mesh.shard;

import io.partita.ir.diagnostic.DiagnosticCode;
import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.diagnostic.Severity;

/** Diagnostics of strategies. */
public enum ShardCode implements DiagnosticCode {
  STRATEGY("P4201", "the strategy can't be read"),
  NOTHING_TO_SPLIT("P4202", "the strategy splits nothing"),
  ALREADY_SHARDED("P4203", "the module is already distributed"),
  SELECTION("P4204", "the model has no scores of tokens to select from"),
  CLASS_TOKEN("P4205", "the class token can't be copied to all devices");

  private final String id;
  private final String title;

  ShardCode(String id, String title) {
    this.id = id;
    this.title = title;
  }

  PartitaException at(String where, String expected, Object found, String remedy) {
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
