package io.partita.ir.factor;

import io.partita.ir.function.ReductionKind;
import java.util.Optional;

/**
 * An index of an operation, like a letter in an einsum equation.
 *
 * @param extent the extent, at least 2, or 0; an extent of 1 has no factor
 */
public record Factor(Use use, long extent) {
  /** The effect of splitting the index. */
  public enum Use {
    /** An index of the result: each device computes its part of the result. */
    PARALLEL,
    /** Each device computes a term of a sum: the result is partial. */
    SUM,
    /** Each device computes a candidate of a maximum: the result is partial. */
    MAX,
    /** Each device computes a candidate of a minimum: the result is partial. */
    MIN,
    /** Can't be split: each result depends on the whole range. */
    WHOLE
  }

  public boolean isSplittable() {
    return use != Use.WHOLE;
  }

  /** Returns the reduction of the terms of the result if this index is split. */
  public Optional<ReductionKind> reduction() {
    return switch (use) {
      case SUM -> Optional.of(ReductionKind.SUM);
      case MAX -> Optional.of(ReductionKind.MAX);
      case MIN -> Optional.of(ReductionKind.MIN);
      case PARALLEL, WHOLE -> Optional.empty();
    };
  }
}
