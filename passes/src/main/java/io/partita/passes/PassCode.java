package io.partita.passes;

import io.partita.ir.diagnostic.DiagnosticCode;
import io.partita.ir.diagnostic.Severity;

/** Diagnostics of passes. */
public enum PassCode implements DiagnosticCode {
  PIPELINE_SYNTAX("P4001", "the pass pipeline can't be read"),
  UNKNOWN_PASS("P4002", "there is no such pass"),
  PASS_OPTION("P4003", "a pass option is wrong"),
  PASS_ORDER("P4004", "a pass needs an earlier one"),
  REWRITE_DOES_NOT_END("P4005", "rewrites don't terminate"),
  SYMBOLIC_DIMENSION("P4006", "a dimension is not bound to a number"),
  BROKE_MODULE("P4007", "a pass produced an invalid module"),
  CHANGED_MEANING("P4008", "a pass changed the results of the module"),
  NO_CACHE("P4009", "the model has no KV cache that can become state"),
  MASK_DROPPED("P4010", "an attention mask was assumed to be all ones", Severity.NOTE),
  CACHE_NOT_KEPT("P4011", "a KV cache remains an input and an output", Severity.NOTE),
  CAPACITY_BEYOND_MODEL("P4012", "the KV cache has more positions than the model"),
  TOKENS_SEE_LATER_ONES("P4013", "new tokens attend to later ones", Severity.NOTE),
  NOT_IN_BF16("P4014", "a model can't be stored in bf16");

  private final String id;
  private final String title;
  private final Severity severity;

  PassCode(String id, String title) {
    this(id, title, Severity.ERROR);
  }

  PassCode(String id, String title, Severity severity) {
    this.id = id;
    this.title = title;
    this.severity = severity;
  }

  @Override
  public String id() {
    return id;
  }

  @Override
  public Severity severity() {
    return severity;
  }

  @Override
  public String title() {
    return title;
  }
}
