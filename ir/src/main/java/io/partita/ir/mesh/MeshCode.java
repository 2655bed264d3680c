package io.partita.ir.mesh;

import io.partita.ir.diagnostic.DiagnosticCode;
import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.diagnostic.Severity;

/** Diagnostics of meshes and layouts. */
public enum MeshCode implements DiagnosticCode {
  MESH("P3401", "a mesh is invalid"),
  LAYOUT("P3402", "a layout is invalid"),
  LAYOUT_TYPE("P3403", "a layout doesn't fit the type"),
  LAYOUT_TEXT("P3404", "the text of a layout has a syntax error"),
  VARYING("P3405", "a varying value has no single value"),
  REPLICAS_DIFFER("P3406", "replicas of a value differ"),
  UNBOUND("P3407", "a dimension must be a number before it is split over devices"),
  RESHARD("P3408", "a layout can't be changed to another one"),
  OPERAND("P3409", "an operation can't take an operand with this layout"),
  DIALECT("P3410", "an operation belongs to another dialect"),
  SYNC("P3411", "a sync's kind doesn't match its layouts"),
  EXIT("P3412", "a varying value can't be settled in this way"),
  ENTRY("P3413", "a value can't become varying in this way");

  private final String id;
  private final String title;

  MeshCode(String id, String title) {
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
