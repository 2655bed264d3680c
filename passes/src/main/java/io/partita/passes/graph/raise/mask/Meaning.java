package io.partita.passes.graph.raise.mask;

import io.partita.ir.graph.Value;
import java.util.List;

/** An element of a tensor as a formula of its indices. */
sealed interface Meaning
    permits Affine,
        Meaning.Number,
        Meaning.Truth,
        Meaning.AtMostZero,
        Meaning.All,
        Meaning.Not,
        Meaning.Choice,
        Meaning.Lookup,
        Meaning.Unknown {
  record Number(double value) implements Meaning {}

  record Truth(boolean value) implements Meaning {}

  /** {@code difference <= 0}. */
  record AtMostZero(Affine difference) implements Meaning {}

  /** A conjunction. */
  record All(List<Meaning> parts) implements Meaning {}

  record Not(Meaning operand) implements Meaning {}

  record Choice(Meaning condition, Meaning then, Meaning otherwise) implements Meaning {}

  /**
   * An element of a tensor that is known only at run time; as a truth value, whether it is not 0.
   */
  record Lookup(Value source, List<Affine> index) implements Meaning {}

  /** Anything else. */
  record Unknown(String reason) implements Meaning {}
}
