package io.partita.frontend.onnx.quantize;

import io.partita.ir.diagnostic.DiagnosticCode;
import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.diagnostic.Severity;

/** Diagnostics of quantization. */
public enum QuantizeCode implements DiagnosticCode {
  ALREADY("P6301", "the model is already quantized"),
  NO_PRODUCT("P6302", "the model has no product to quantize"),
  RANGE("P6303", "a value has no range to quantize"),
  GROUPS("P6304", "the groups don't divide a weight"),
  OPERATOR_SET("P6305", "the model's operator set can't express the quantization"),
  LAYER("P6306", "the model has no such product, attention, function or residual sum"),
  NO_ATTENTION("P6307", "the model has no attention to quantize"),
  NO_FUNCTION("P6308", "the model has no activation function to quantize"),
  WEIGHT("P6309", "a weight isn't a finite number"),
  QUANTIZED("P6310", "the model was quantized", Severity.NOTE),
  NO_RESIDUAL("P6311", "the model has no residual sum to quantize");

  private final String id;
  private final String title;
  private final Severity severity;

  QuantizeCode(String id, String title) {
    this(id, title, Severity.ERROR);
  }

  QuantizeCode(String id, String title, Severity severity) {
    this.id = id;
    this.title = title;
    this.severity = severity;
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
    return severity;
  }

  @Override
  public String title() {
    return title;
  }
}
