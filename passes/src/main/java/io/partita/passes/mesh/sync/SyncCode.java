package io.partita.passes.mesh.sync;

import io.partita.ir.diagnostic.DiagnosticCode;
import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.diagnostic.Severity;

/** Diagnostics of rewrites of syncs. */
public enum SyncCode implements DiagnosticCode {
  BLOCKS("P4221", "there is no such block"),
  DROP("P4222", "the sync after a block's attention can't be dropped"),
  LOW_BIT("P4223", "a sum can't be sent in low precision"),
  CALIBRATION("P4224", "a calibration doesn't match the model"),
  RANGES("P4225", "a calibration has no range for a feature"),
  RULES("P4226", "a --sync rule is invalid"),
  RANKING("P4227", "a ranking of blocks doesn't match the model"),
  HEADS("P4228", "the heads of a block can't be moved to other devices"),
  VECTOR("P4229", "tokens can't be sent as indices of centroids");

  private final String id;
  private final String title;

  SyncCode(String id, String title) {
    this.id = id;
    this.title = title;
  }

  PartitaException at(String where, String expected, Object found, String remedy) {
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
