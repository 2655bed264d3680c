package io.partita.backend.metalium;

import io.partita.ir.diagnostic.DiagnosticCode;
import io.partita.ir.diagnostic.Severity;

/** What the TT-Metalium backend doesn't emit. */
public enum MetaliumCode implements DiagnosticCode {
  OPERATION("P5201", "there is no TT-Metalium kernel for an operation"),
  SHAPE("P5202", "a tensor doesn't consist of whole tiles"),
  PROGRAM("P5203", "a program has parts that no TT-Metalium code is emitted for"),
  BUFFERS("P5204", "the circular buffers of a kernel don't fit L1"),
  RELEASE("P5205", "there is no table of names for a release of TT-Metalium"),
  WEIGHTS("P5206", "there is no such format of weights"),
  GRID("P5207", "a chip has no such grid of cores"),
  MEMORY("P5208", "a chip has less of a memory"),
  SUMS("P5209", "products have no such sums");

  private final String id;
  private final String title;

  MetaliumCode(String id, String title) {
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
