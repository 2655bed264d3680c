package io.partita.ir.function;

import java.util.Locale;

/** Functions of two elements. Integers wrap. */
public enum BinaryFunction {
  ADD(Kind.ARITHMETIC),
  SUB(Kind.ARITHMETIC),
  MUL(Kind.ARITHMETIC),
  /**
   * For integers: rounds towards zero; division by zero gives 0, so that no input stops a program.
   */
  DIV(Kind.DIVISION),
  /** The exponent may have another element type than the base, which has the type of the result. */
  POW(Kind.DIVISION),
  /** Remainder with the sign of the divisor. */
  MOD(Kind.DIVISION),
  /** Remainder with the sign of the dividend. */
  REMAINDER(Kind.DIVISION),
  /** NaN if either is. */
  MIN(Kind.ARITHMETIC),
  /** NaN if either is. */
  MAX(Kind.ARITHMETIC),
  AND(Kind.LOGIC),
  OR(Kind.LOGIC),
  XOR(Kind.LOGIC),
  BIT_AND(Kind.BITS),
  BIT_OR(Kind.BITS),
  BIT_XOR(Kind.BITS),
  SHIFT_LEFT(Kind.BITS),
  /** Logical for unsigned types, arithmetic for signed ones. */
  SHIFT_RIGHT(Kind.BITS),
  EQUAL(Kind.COMPARISON),
  LESS(Kind.COMPARISON),
  LESS_OR_EQUAL(Kind.COMPARISON),
  GREATER(Kind.COMPARISON),
  GREATER_OR_EQUAL(Kind.COMPARISON);

  private enum Kind {
    ARITHMETIC,
    /** Functions of more than a few instructions. */
    DIVISION,
    LOGIC,
    BITS,
    COMPARISON
  }

  private final Kind kind;

  BinaryFunction(Kind kind) {
    this.kind = kind;
  }

  public String text() {
    return name().toLowerCase(Locale.ROOT);
  }

  public boolean isComparison() {
    return kind == Kind.COMPARISON;
  }

  /** Whether the operands are boolean. */
  public boolean isLogical() {
    return kind == Kind.LOGIC;
  }

  /** Whether the operands are integers. */
  public boolean isBitwise() {
    return kind == Kind.BITS;
  }

  /** Whether an element takes more than a few instructions. */
  public boolean isCostly() {
    return kind == Kind.DIVISION;
  }
}
