package io.partita.backend.siracusa.random;

import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.ElementType;
import java.util.Optional;

/** The first wrong element. */
final class TensorDifference {
  /**
   * The tolerance relative to {@code 1 + |expected|}: the bounds of kernels for operands of
   * magnitude 1, with a margin that suffices for sums of some thousand terms.
   */
  private static final double BOUND = 6000 * 0x1p-24;

  private TensorDifference() {}

  static Optional<String> find(Tensor expected, Tensor found) {
    if (!expected.type().equals(found.type())) {
      return Optional.of(found.type() + " and not " + expected.type());
    }
    for (int i = 0; i < expected.size(); i++) {
      boolean isSame =
          expected.element().isFloat()
              ? isNear(expected.getDouble(i), found.getDouble(i), bound(expected.element()))
              : expected.getLong(i) == found.getLong(i);
      if (!isSame) {
        return Optional.of(
            "element %d is %s and not %s".formatted(i, text(found, i), text(expected, i)));
      }
    }
    return Optional.empty();
  }

  private static String text(Tensor tensor, int i) {
    return tensor.element().isFloat() ? "" + tensor.getDouble(i) : "" + tensor.getLong(i);
  }

  private static boolean isNear(double expected, double found, double bound) {
    return Double.compare(expected, found) == 0
        || Math.abs(expected - found) <= bound * (1 + Math.abs(expected));
  }

  /** The evaluator rounds to 16 bits after each sum and function, emitted code at the end. */
  private static double bound(ElementType element) {
    return switch (element) {
      case F16 -> 16 * 0x1p-11;
      case BF16 -> 16 * 0x1p-8;
      case F64, F32, I64, I32, I16, I8, I4, U64, U32, U16, U8, U4, BOOL -> BOUND;
    };
  }
}
