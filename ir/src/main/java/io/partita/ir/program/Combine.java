package io.partita.ir.program;

import io.partita.ir.mesh.ReductionKind;

/** What a device does with elements that it receives. */
public enum Combine {
  /** They take the place of its own. */
  REPLACE,
  /** {@code own + received}. */
  ADD,
  /** The larger of both. */
  MAXIMUM,
  /** The smaller of both. */
  MINIMUM;

  public static Combine of(ReductionKind reduction) {
    return switch (reduction) {
      case SUM -> ADD;
      case MAX -> MAXIMUM;
      case MIN -> MINIMUM;
    };
  }
}
