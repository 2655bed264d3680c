package io.partita.driver.cases;

import io.partita.ir.type.ElementType;
import java.util.OptionalDouble;

/**
 * The allowed difference between a result and the recorded one: {@code |found - expected| <=
 * absolute + relative |expected|}, as in NumPy's {@code isclose}. Integers and booleans must be
 * equal.
 */
public record Tolerance(OptionalDouble relative, OptionalDouble absolute) {
  /** The bounds of the ONNX project's own test runner, wider where the element type is coarser. */
  public static final Tolerance DEFAULT =
      new Tolerance(OptionalDouble.empty(), OptionalDouble.empty());

  public Tolerance {
    if (!isBound(relative.orElse(0)) || !isBound(absolute.orElse(0))) {
      throw new IllegalArgumentException("a tolerance must be finite and not negative");
    }
  }

  /** Any comparison with another number, such as NaN or a negative one, would pass. */
  public static boolean isBound(double tolerance) {
    return Double.isFinite(tolerance) && tolerance >= 0;
  }

  /** Whether the user chose it; then no explanation makes a larger difference pass. */
  boolean isChosen() {
    return relative.isPresent() || absolute.isPresent();
  }

  /**
   * By default 1e-3, as in ONNX; for 16-bit floats two units in the last place, because a result
   * that is rounded once may be on the other side of a recorded one.
   */
  double relative(ElementType element) {
    return relative.orElse(
        switch (element) {
          case F16 -> 0x1p-9;
          case BF16 -> 0x1p-6;
          case F64, F32, I64, I32, I16, I8, I4, U64, U32, U16, U8, U4, BOOL -> 1e-3;
        });
  }

  /** By default 1e-5 for f32, the rounding of sums of a few hundred terms near 1 that cancel. */
  double absolute(ElementType element) {
    return absolute.orElse(
        switch (element) {
          case F64 -> 1e-7;
          case F16 -> 0x1p-10;
          case BF16 -> 0x1p-7;
          case F32, I64, I32, I16, I8, I4, U64, U32, U16, U8, U4, BOOL -> 1e-5;
        });
  }
}
