package io.partita.ir.function;

import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;

/** What becomes of an element when another one arrives: an update, or a device's message. */
public enum Combine {
  /** The other one takes its place. */
  REPLACE(Optional.empty()),
  ADD(Optional.of(ReductionKind.SUM)),
  MUL(Optional.of(ReductionKind.PRODUCT)),
  MIN(Optional.of(ReductionKind.MIN)),
  MAX(Optional.of(ReductionKind.MAX));

  private final Optional<ReductionKind> reduction;

  Combine(Optional<ReductionKind> reduction) {
    this.reduction = reduction;
  }

  /** Returns the one that reduces terms. */
  public static Combine of(ReductionKind reduction) {
    return Arrays.stream(values())
        .filter(each -> each.reduction.filter(reduction::equals).isPresent())
        .findFirst()
        .orElseThrow(() -> new IllegalArgumentException(reduction.text()));
  }

  /** How both are reduced; empty if the other one replaces the element. */
  public Optional<ReductionKind> reduction() {
    return reduction;
  }

  /** Joins the element and the other one, in that order; empty if the latter replaces it. */
  public Optional<BinaryFunction> function() {
    return reduction.map(ReductionKind::function);
  }

  public String text() {
    return name().toLowerCase(Locale.ROOT);
  }
}
