package io.partita.ir.file;

import io.partita.ir.diagnostic.DiagnosticCode;
import io.partita.ir.diagnostic.Severity;

/** What can go wrong when a folder is written. */
public enum FolderCode implements DiagnosticCode {
  OUTPUT_FOLDER("P5002", "the output folder can't be written"),
  NOT_OUR_FOLDER("P5003", "the output folder holds files that Partita didn't write");

  private final String id;
  private final String title;

  FolderCode(String id, String title) {
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
