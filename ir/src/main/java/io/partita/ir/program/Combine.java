package io.partita.ir.program;

import io.partita.ir.mesh.ReductionKind;
import io.partita.ir.mesh.Shards;
import io.partita.ir.op.BinaryFunction;
import io.partita.ir.tensor.Tensor;
import java.util.Optional;

/** What a device does with elements that it receives. */
public enum Combine {
  /** They take the place of its own. */
  REPLACE(Optional.empty()),
  /** {@code own + received}. */
  ADD(Optional.of(ReductionKind.SUM)),
  /** The larger of both. */
  MAXIMUM(Optional.of(ReductionKind.MAX)),
  /** The smaller of both. */
  MINIMUM(Optional.of(ReductionKind.MIN));

  private final Optional<ReductionKind> reduction;

  Combine(Optional<ReductionKind> reduction) {
    this.reduction = reduction;
  }

  public static Combine of(ReductionKind reduction) {
    return switch (reduction) {
      case SUM -> ADD;
      case MAX -> MAXIMUM;
      case MIN -> MINIMUM;
    };
  }

  /** Joins an own and a received element, in that order; empty where the latter replaces it. */
  public Optional<BinaryFunction> function() {
    return reduction.map(ReductionKind::function);
  }

  /** The device's elements afterwards, each rounded to the element type. */
  public Tensor apply(Tensor own, Tensor received) {
    return reduction.map(kind -> Shards.join(kind, own, received)).orElse(received);
  }
}
