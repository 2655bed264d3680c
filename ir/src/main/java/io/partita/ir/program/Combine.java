package io.partita.ir.program;

import io.partita.ir.mesh.ReductionKind;
import io.partita.ir.mesh.Shards;
import io.partita.ir.tensor.Tensor;

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

  /** The device's elements afterwards, each rounded to the element type. */
  public Tensor apply(Tensor own, Tensor received) {
    return switch (this) {
      case REPLACE -> received;
      case ADD -> Shards.join(ReductionKind.SUM, own, received);
      case MAXIMUM -> Shards.join(ReductionKind.MAX, own, received);
      case MINIMUM -> Shards.join(ReductionKind.MIN, own, received);
    };
  }
}
