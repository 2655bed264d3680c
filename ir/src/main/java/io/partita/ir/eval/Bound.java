package io.partita.ir.eval;

import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.type.Dim;
import io.partita.ir.type.TensorType;

/** What must hold before numbers can be computed. */
final class Bound {
  /** Java arrays hold no more, but for a few. */
  private static final long MOST_ELEMENTS = Integer.MAX_VALUE - 8;

  private Bound() {}

  /** The number that an attribute is bound to. */
  static long value(Dim dim, String where) {
    if (!dim.isStatic()) {
      throw unbound(where, dim.toString());
    }
    return dim.value();
  }

  static int index(Dim dim, String where) {
    return Math.toIntExact(value(dim, where));
  }

  /** That a tensor of this type can be held. */
  static void verify(TensorType type, String where) {
    if (!type.isStatic()) {
      throw unbound(where, type.toString());
    }
    long elements = 1;
    try {
      elements = type.shape().elements();
    } catch (ArithmeticException overflow) {
      elements = Long.MAX_VALUE;
    }
    if (elements > MOST_ELEMENTS) {
      throw new PartitaException(
          EvaluationCode.TOO_LARGE,
          where,
          "at most " + MOST_ELEMENTS + " elements",
          type.toString(),
          "evaluate with smaller dimensions");
    }
  }

  private static PartitaException unbound(String where, String found) {
    return new PartitaException(
        EvaluationCode.UNBOUND_DIMENSION,
        where,
        "numbers only",
        found,
        "bind its symbols, such as --dim seq=128");
  }
}
