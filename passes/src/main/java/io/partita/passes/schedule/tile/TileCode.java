package io.partita.passes.schedule.tile;

import io.partita.ir.diagnostic.DiagnosticCode;
import io.partita.ir.diagnostic.Severity;

/** Diagnostics of tiling. */
public enum TileCode implements DiagnosticCode {
  TOO_LARGE("P4402", "the smallest tiles of a loop don't fit the working memory");

  private final String id;
  private final String title;

  TileCode(String id, String title) {
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
