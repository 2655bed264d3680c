package io.partita.ir.factor;

import io.partita.ir.function.ReductionKind;
import java.util.Optional;

/**
 * An index of an operation, like a letter of an einsum equation.
 *
 * @param extent at least 2, or 0: an index of extent 1 is none
 */
public record Factor(Use use, long extent) {
  /** What becomes of a split of the index. */
  public enum Use {
    /** Stands in the result: each device computes its part of the result. */
    PARALLEL,
    /** Each device computes a term of a sum: the result is partial. */
    SUM,
    /** Each device computes a candidate of a maximum: the result is partial. */
    MAX,
    /** Each device computes a candidate of a minimum: the result is partial. */
    MIN,
    /** Can't be split: each result depends on all of it. */
    WHOLE
  }

  public boolean isSplittable() {
    return use != Use.WHOLE;
  }

  /** How the parts of the result join when this index is split. */
  public Optional<ReductionKind> reduction() {
    return switch (use) {
      case SUM -> Optional.of(ReductionKind.SUM);
      case MAX -> Optional.of(ReductionKind.MAX);
      case MIN -> Optional.of(ReductionKind.MIN);
      case PARALLEL, WHOLE -> Optional.empty();
    };
  }
}
