package io.partita.ir.eval;

import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.type.Dim;
import io.partita.ir.type.TensorType;

/** Checks before a computation. */
final class Bound {
  /** The largest length of Java arrays, with a margin. */
  private static final long MAX_ELEMENTS = Integer.MAX_VALUE - 8;

  private Bound() {}

  /** Returns the number to which an attribute is bound. */
  static long value(Dim dim, String where) {
    if (!dim.isStatic()) {
      throw unbound(where, dim.toString());
    }
    return dim.value();
  }

  static int index(Dim dim, String where) {
    return Math.toIntExact(value(dim, where));
  }

  /** Checks that a tensor of this type can be held in memory. */
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
    if (elements > MAX_ELEMENTS) {
      throw new PartitaException(
          EvaluationCode.TOO_LARGE,
          where,
          "at most " + MAX_ELEMENTS + " elements",
          type.toString(),
          "evaluate with smaller dimensions");
    }
  }

  private static PartitaException unbound(String where, String found) {
    return new PartitaException(
        EvaluationCode.UNBOUND_DIMENSION,
        where,
        "static dimensions",
        found,
        "bind its symbols, such as --dim seq=128");
  }
}
