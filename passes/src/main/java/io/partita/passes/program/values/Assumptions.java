package io.partita.passes.program.values;

import io.partita.ir.type.ElementType;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * What isn't in the program.
 *
 * @param filled positions of KV caches that hold keys; all of the capacity where it isn't given
 * @param floats count as of this type where it's narrower; what devices exchange is then of 32 bits
 */
public record Assumptions(OptionalLong filled, Optional<ElementType> floats) {
  public static final Assumptions NONE = new Assumptions(OptionalLong.empty(), Optional.empty());
}
