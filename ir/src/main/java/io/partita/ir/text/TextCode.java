package io.partita.ir.text;

import io.partita.ir.diagnostic.DiagnosticCode;
import io.partita.ir.diagnostic.Severity;

/** Diagnostics of text forms. */
public enum TextCode implements DiagnosticCode {
  SYNTAX("P3001", "the text has a syntax error"),
  UNKNOWN_OPERATION("P3002", "there is no such operation"),
  ATTRIBUTE("P3003", "an attribute is wrong"),
  OPERANDS("P3004", "the operands don't fit the operation"),
  TYPE("P3005", "a stated type differs from the inferred one"),
  UNDEFINED("P3006", "a name is used before its definition"),
  DUPLICATE("P3007", "a name is defined twice"),
  CONSTANT("P3008", "the elements of a constant don't fit its type"),
  WEIGHT("P3009", "a weight can't be found in the weights file"),
  STATE("P3010", "a state doesn't fit the graph"),
  LIMIT("P3011", "the text exceeds a limit"),
  FILE("P3012", "the file can't be read or written"),
  LAYOUT("P3013", "a layout is wrong"),
  RANGE("P3014", "a range of values doesn't fit the inputs"),
  PART("P3015", "a node's block and role are invalid"),
  VERSION("P3016", "the text has no version, or one that this Partita doesn't read");

  private final String id;
  private final String title;

  TextCode(String id, String title) {
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
