package io.partita.backend.java.code;

import io.partita.backend.java.plan.Storage;
import io.partita.ir.type.ElementType;

/**
 * The accumulator array of a contraction: the result's own array if its element type can hold the
 * sums, otherwise a wider scratch array that is rounded or wrapped at the end.
 */
record Accumulator(StepCode code, String array, Storage storage, boolean own) {
  static Accumulator of(StepCode code) {
    ElementType element = code.resultType().element();
    Storage storage =
        switch (element) {
          case F64 -> Storage.DOUBLES;
          case F32, F16, BF16 -> Storage.FLOATS;
          case I64, U64 -> Storage.LONGS;
          case I32, I16, I8, I4, U32, U16, U8, U4, BOOL -> Storage.INTS;
        };
    boolean own = Storage.of(element) == storage;
    long count = code.resultType().shape().elements();
    String array = own ? code.result() : code.scratch.take(storage, count);
    return new Accumulator(code, array, storage, own);
  }

  /** A product of two carriers as a summand of the array's type. */
  String product(ElementType left, String x, ElementType right, String y) {
    String widest =
        Elements.carrier(left).equals("long") || Elements.carrier(right).equals("long")
            ? "long"
            : "int";
    return switch (storage) {
      case DOUBLES -> x + " * " + y;
      case FLOATS -> left == ElementType.F32 ? x + " * " + y : "(float) (" + x + " * " + y + ")";
      case LONGS -> widest.equals("long") ? x + " * " + y : "(long) " + x + " * " + y;
      case INTS -> widest.equals("int") ? x + " * " + y : "(int) (" + x + " * " + y + ")";
      case SHORTS, BYTES, BOOLEANS -> throw new AssertionError(storage);
    };
  }

  void clear() {
    code.body.line(
        "Arrays.fill(%s, 0, %s, 0)".formatted(array, code.resultType().shape().elements()));
  }

  /** Stores the sums to the result. */
  void finish() {
    if (own) {
      return;
    }
    code.body.open(LoopNest.loop("i", code.resultType().shape().elements()));
    String value = array + "[i]";
    code.store("i", value);
    code.body.close();
  }
}
