package io.partita.backend.metalium;

import io.partita.ir.tensor.Float16;
import io.partita.ir.type.ElementType;

/**
 * How kernels round. All of it keeps the order of numbers, so that what holds for the ends of an
 * interval holds for all numbers in it.
 *
 * <ul>
 *   <li>A source register of the matrix engine has 10 bits of the mantissa; the others are cut off.
 *   <li>Its multipliers take 10 bits of what is in source register B and 9 of what is in A, at the
 *       highest fidelity, too. A holds the first factor of elements, the second one of matrices,
 *       and the factors of a sum along rows. Products have at most 21 bits, which f32 has.
 *   <li>A destination register has 32 bits, so that each sum is rounded to f32; or 16, if kernels
 *       of products ask for that, so that the sum of each face of 16 products is rounded to bf16,
 *       and all that follows in the same kernel.
 *   <li>The packer rounds to the format of the buffer, to nearest.
 *   <li>The vector engine rounds sums, products, quotients and roots to f32; other functions are
 *       those of the C library, or a few operations.
 * </ul>
 */
enum KernelArithmetic {
  F32,
  BF16,
  /** Elements of bf16 in destination registers of 16 bits. */
  BF16_SUMS,
  /** Without any rounding: the mathematical results. */
  EXACT;

  private static final double UNIT = 0x1p-24;
  private static final double UNIT_OF_BF16 = 0x1p-8;

  /** The products that the matrix engine adds at once, in one face of a tile. */
  private static final int FACE = 16;

  static KernelArithmetic of(ElementType element) {
    return element == ElementType.BF16 ? BF16 : F32;
  }

  /** A stored number as the matrix engine reads it. All bits of bf16 fit. */
  double inSource(double x) {
    return cut(x, 10);
  }

  /** Likewise, as a factor in source register A. */
  double inFactorA(double x) {
    return cut(x, 9);
  }

  private double cut(double x, int bitsOfMantissa) {
    return this == F32 && Double.isFinite(x)
        ? Float.intBitsToFloat(Float.floatToRawIntBits((float) x) & -1 << 23 - bitsOfMantissa)
        : x;
  }

  /** A result in a destination register. */
  double inDestination(double x) {
    return switch (this) {
      case EXACT -> x;
      case BF16_SUMS -> inBf16(x);
      case F32, BF16 -> (float) x;
    };
  }

  /** A destination register as it is packed into a buffer. */
  double packed(double x) {
    return this == BF16 || this == BF16_SUMS ? inBf16(x) : inDestination(x);
  }

  /** A number that is rounded to bf16. */
  double inBf16(double x) {
    return this == EXACT ? x : Float16.fromBfloat(Float16.toBfloat((float) x));
  }

  /** That of kernels whose destination registers have 16 bits. */
  KernelArithmetic withSumsInBf16() {
    return this == BF16 ? BF16_SUMS : this;
  }

  /** How a sum of chips is rounded whose terms travel in a format. */
  KernelArithmetic inMessages(ElementType sent) {
    return this == F32 && sent == ElementType.BF16 ? BF16 : this;
  }

  /** That of kernels whose other operands are f32 in a model of bf16. */
  KernelArithmetic withF32() {
    return this == EXACT ? this : F32;
  }

  /**
   * What a sum of so many terms in destination registers may be off, relative to the sum of their
   * magnitudes, in any order: (1 + u)^n - 1 for the roundings of partial sums. In registers of 16
   * bits, the sums of faces are rounded to these as well.
   */
  double ofSum(long terms) {
    long faces = Math.ceilDiv(terms, FACE);
    return switch (this) {
      case EXACT -> terms * 0x1p-50;
      case F32, BF16 -> Math.expm1((terms + 1) * Math.log1p(UNIT));
      case BF16_SUMS ->
          Math.expm1((terms + 1) * Math.log1p(UNIT) + faces * Math.log1p(UNIT_OF_BF16));
    };
  }

  /** What a single result in a destination register may be off, relative to it. */
  double ofRounding() {
    return switch (this) {
      case EXACT -> 0;
      case F32, BF16 -> UNIT;
      case BF16_SUMS -> UNIT_OF_BF16;
    };
  }

  /**
   * What a function of the vector engine may be off, relative to its result: the C library's are
   * within two units, and the sigmoid makes three roundings of them.
   */
  double ofFunction() {
    return this == EXACT ? 0x1p-48 : 8 * UNIT;
  }

  /** More than x / e^x for an exponential that f32 doesn't have. */
  double ofOverflow() {
    return this == EXACT ? 0 : 0x1p-120;
  }

  /** What packing may be off, relative to a number. */
  double ofPacking() {
    return switch (this) {
      case EXACT -> 0;
      case F32 -> UNIT;
      case BF16, BF16_SUMS -> UNIT_OF_BF16;
    };
  }

  /** The largest share of a number that a source register loses. */
  double ofSource() {
    return this == F32 ? 0x1p-10 : 0;
  }

  /** The largest share of a number that is lost of a factor in source register A. */
  double ofFactorA() {
    return 2 * ofSource();
  }
}
