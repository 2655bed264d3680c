package io.partita.driver.evaluate;

import io.partita.ir.diagnostic.DiagnosticCode;
import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.diagnostic.Severity;

/** Diagnostics of evaluations. */
public enum MetricCode implements DiagnosticCode {
  ARRAY("P6201", "the data lacks the array to evaluate"),
  DATA("P6202", "the data doesn't fit the model"),
  NO_METRIC("P6203", "there is no metric for the model"),
  CALIBRATION_FILE("P6204", "a calibration file can't be used"),
  RANKING_FILE("P6205", "a ranking file can't be used"),
  MIX("P6206", "no mix of methods is within the limit"),
  CODEBOOK("P6207", "a codebook can't be trained"),
  TUNING_FILE("P6208", "a file of tune can't be used");

  private final String id;
  private final String title;

  MetricCode(String id, String title) {
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
