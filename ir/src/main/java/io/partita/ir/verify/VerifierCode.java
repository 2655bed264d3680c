package io.partita.ir.verify;

import io.partita.ir.diagnostic.DiagnosticCode;
import io.partita.ir.diagnostic.Severity;

/** Diagnostics of invalid modules. */
public enum VerifierCode implements DiagnosticCode {
  INPUT_NAME("P3101", "two inputs of a graph have the same name"),
  OUTPUT_NAME("P3102", "two outputs of a graph have the same name"),
  STATE("P3103", "a state names no input or output of its graph"),
  STATE_TYPE("P3104", "the input and the output of a state differ in type"),
  UNDEFINED("P3105", "a value is used before its definition, or has none"),
  DUPLICATE("P3106", "a value is defined twice"),
  OPERANDS("P3107", "the operands don't fit the operation"),
  RESULT_TYPE("P3108", "a result doesn't have the inferred type"),
  MALFORMED_TYPE("P3109", "a type is malformed"),
  MORE("P3110", "there are more violations"),
  PLACEMENT("P3111", "a placement doesn't fit the inputs"),
  OUTPUT_LAYOUT("P3112", "the devices together don't have the whole output"),
  STATE_LAYOUT("P3113", "the input and the output of a state have different layouts"),
  OUTCOME("P3114", "a guarded region is wrong for some outcome");

  private final String id;
  private final String title;

  VerifierCode(String id, String title) {
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
