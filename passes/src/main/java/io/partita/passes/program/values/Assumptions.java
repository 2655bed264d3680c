package io.partita.passes.program.values;

import io.partita.ir.schedule.Packing;
import io.partita.ir.type.ElementType;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * Facts about a run that are not in the program.
 *
 * @param filled the filled positions of KV caches; by default the whole capacity
 * @param floats the type that floats are assumed to have, if it is narrower; exchanged values then
 *     have 32 bits
 * @param weights how the constant matrices of products are stored
 */
public record Assumptions(OptionalLong filled, Optional<ElementType> floats, Packing weights) {
  public static final Assumptions NONE =
      new Assumptions(OptionalLong.empty(), Optional.empty(), Packing.PLAIN);

  /** The same with matrices of products that are stored otherwise. */
  public Assumptions with(Packing packing) {
    return new Assumptions(filled, floats, packing);
  }
}
