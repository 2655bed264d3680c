package io.partita.frontend.onnx;

import io.partita.ir.diagnostic.DiagnosticCode;
import io.partita.ir.diagnostic.Severity;

/** Diagnostics of the ONNX import. */
public enum ImportCode implements DiagnosticCode {
  UNREADABLE("P1001", "the file can't be read"),
  NOT_A_FILE("P1002", "this is not a file"),
  EMPTY("P1003", "the file is empty"),
  NOT_ONNX("P1004", "this is not an ONNX model, or a damaged one"),
  TOO_LARGE("P1005", "the file is too large"),
  NO_GRAPH("P1006", "the model has no graph"),
  EXTERNAL_LOCATION("P1010", "external data lies outside the model's folder"),
  EXTERNAL_MISSING("P1011", "external data can't be read"),
  EXTERNAL_RANGE("P1012", "external data ends early"),
  TENSOR_SHAPE("P1013", "a tensor has an impossible shape"),
  TENSOR_SIZE("P1014", "a tensor's data doesn't fit its shape"),
  TENSOR_ELEMENT("P1015", "a tensor has an unsupported element type"),
  NOT_A_TENSOR("P1016", "this is not a file of one ONNX tensor, or a damaged one"),

  UNSUPPORTED_OPERATOR("P2001", "the operator is not supported"),
  UNSUPPORTED_VERSION("P2002", "this version of the operator is not supported"),
  UNSUPPORTED_USE("P2003", "this use of the operator is not supported"),
  INVALID_NODE("P2004", "the node violates its operator's definition"),
  MISFIT("P2005", "the operands of the node are incompatible"),
  NOT_KNOWN("P2006", "a value must be known at compile time"),
  CYCLE("P2007", "the graph has a cycle"),
  DUPLICATE("P2008", "a name is used twice"),
  UNDEFINED("P2009", "an undefined value is used"),
  UNKNOWN_DIMENSION("P2010", "the model has no such dimension"),
  UNKNOWN_INPUT("P2011", "the model has no such input"),
  INPUT_TYPE("P2012", "the type of a graph input is not supported"),
  INPUT_VALUE("P2013", "a bound value doesn't fit its input"),
  FUNCTION_RECURSION("P2014", "a model-local function calls itself"),
  EXPANSION("P2015", "the model grows too large when its functions and loops are expanded"),
  OPERATOR_SET("P2016", "the operator set is not supported"),
  MORE("P2017", "more diagnostics were omitted"),
  INTERNAL("P2099", "this is an internal error of Partita");

  private final String id;
  private final String title;

  ImportCode(String id, String title) {
    this.id = id;
    this.title = title;
  }

  @Override
  public String id() {
    return id;
  }

  @Override
  public Severity severity() {
    return this == MORE ? Severity.NOTE : Severity.ERROR;
  }

  @Override
  public String title() {
    return title;
  }
}
