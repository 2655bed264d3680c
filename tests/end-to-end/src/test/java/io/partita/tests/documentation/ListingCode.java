package io.partita.tests.documentation;

import io.partita.ir.diagnostic.DiagnosticCode;
import io.partita.ir.diagnostic.Severity;

/** The diagnostics of {@link ListingBackend}. */
enum ListingCode implements DiagnosticCode {
  NOT_A_LISTING("P5999", "the folder holds no listing");

  private final String id;
  private final String title;

  ListingCode(String id, String title) {
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
