package io.partita.driver;

import io.partita.ir.diagnostic.DiagnosticCode;
import io.partita.ir.diagnostic.Severity;

/** Diagnostics about commands and their files. */
public enum DriverCode implements DiagnosticCode {
  NOT_A_CASE("P6002", "this is not a test case"),
  BAD_ARRAY("P6003", "a NumPy file can't be read"),
  CASE_MISMATCH("P6004", "recorded arrays don't fit the model"),
  FILE("P6005", "a file can't be read or written"),
  OUTPUT_EXISTS("P6006", "the output already exists"),
  BAD_BINDING("P6008", "a binding is wrong"),
  OUT_OF_MEMORY("P6009", "there isn't enough memory"),
  BAD_VOCABULARY("P6010", "the vocabulary or the prompt can't be used"),
  NOT_A_LANGUAGE_MODEL("P6011", "the program doesn't generate text"),
  UNKNOWN_TARGET("P6012", "there is no such target"),
  DEFAULT_BATCH("P6013", "a batch dimension is not bound", Severity.NOTE),
  DEFAULT_CAPACITY("P6014", "the capacity of the KV cache is not given", Severity.NOTE),
  CACHE_FULL("P6015", "the KV cache is full", Severity.NOTE),
  FIXED_PAST("P6016", "the KV cache has a fixed length and stays an input", Severity.NOTE),
  DEVICES("P6017", "the number of devices and the strategy don't fit together"),
  DEFAULT_EXTENT("P6018", "a dimension is not given", Severity.NOTE),
  DIMENSION_CONFLICT("P6019", "dimensions contradict each other"),
  DERIVED_DIMENSION("P6020", "a dimension follows from others", Severity.NOTE),
  NO_CHUNKS("P6021", "the model can't take several tokens at once"),
  PROMPT_TOO_LONG("P6022", "the prompt is longer than the KV cache"),
  CHOSEN_NUMBER("P6023", "a number that the model needs is not given", Severity.NOTE),
  NO_TOKENIZER_LIBRARY("P6024", "the tokenizer library isn't available"),
  WINDOW("P6025", "the model has not read the beginning of the text", Severity.NOTE),
  STATE_GIVEN("P6030", "these arrays are state that the program keeps"),
  UNUSED_ARRAYS("P6031", "arrays are not used", Severity.NOTE),
  NO_REPORT("P6032", "the folder has no report"),
  PLACE("P6033", "the program doesn't run there"),
  INTERNAL("P6099", "this is an internal error of Partita");

  private final String id;
  private final String title;
  private final Severity severity;

  DriverCode(String id, String title) {
    this(id, title, Severity.ERROR);
  }

  DriverCode(String id, String title, Severity severity) {
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
