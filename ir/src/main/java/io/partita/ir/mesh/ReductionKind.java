package io.partita.ir.mesh;

import io.partita.ir.op.BinaryFunction;
import java.util.Locale;

/** How the parts of an unreduced value join to the whole. */
public enum ReductionKind {
  /** Integers wrap, so that the sum doesn't depend on the order. */
  SUM(BinaryFunction.ADD),
  MAX(BinaryFunction.MAX),
  MIN(BinaryFunction.MIN);

  private final BinaryFunction function;

  ReductionKind(BinaryFunction function) {
    this.function = function;
  }

  /** What joins two parts. */
  public BinaryFunction function() {
    return function;
  }

  /** Whether a part joined with itself is itself, so that a whole value may stand for each part. */
  public boolean isIdempotent() {
    return this != SUM;
  }

  public String text() {
    return name().toLowerCase(Locale.ROOT);
  }
}
