package io.partita.ir.op;

import java.util.Locale;

/** Functions of two elements. Integers wrap. */
public enum BinaryFunction {
  ADD,
  SUB,
  MUL,
  /** Integers: towards zero; by zero gives 0, so that no input stops a program. */
  DIV,
  /** The exponent may be of another element type than the base, whose type is the result's. */
  POW,
  /** Remainder with the sign of the divisor. */
  MOD,
  /** Remainder with the sign of the dividend. */
  REMAINDER,
  /** NaN if either is. */
  MIN,
  /** NaN if either is. */
  MAX,
  AND,
  OR,
  XOR,
  BIT_AND,
  BIT_OR,
  BIT_XOR,
  SHIFT_LEFT,
  /** Logical for unsigned types, arithmetic for signed ones. */
  SHIFT_RIGHT,
  EQUAL,
  LESS,
  LESS_OR_EQUAL,
  GREATER,
  GREATER_OR_EQUAL;

  public String text() {
    return name().toLowerCase(Locale.ROOT);
  }

  public boolean isComparison() {
    return switch (this) {
      case EQUAL, LESS, LESS_OR_EQUAL, GREATER, GREATER_OR_EQUAL -> true;
      case ADD,
          SUB,
          MUL,
          DIV,
          POW,
          MOD,
          REMAINDER,
          MIN,
          MAX,
          AND,
          OR,
          XOR,
          BIT_AND,
          BIT_OR,
          BIT_XOR,
          SHIFT_LEFT,
          SHIFT_RIGHT ->
          false;
    };
  }

  /** Whether the operands are boolean. */
  public boolean isLogical() {
    return this == AND || this == OR || this == XOR;
  }

  /** Whether the operands are integers. */
  public boolean isBitwise() {
    return switch (this) {
      case BIT_AND, BIT_OR, BIT_XOR, SHIFT_LEFT, SHIFT_RIGHT -> true;
      case ADD,
          SUB,
          MUL,
          DIV,
          POW,
          MOD,
          REMAINDER,
          MIN,
          MAX,
          AND,
          OR,
          XOR,
          EQUAL,
          LESS,
          LESS_OR_EQUAL,
          GREATER,
          GREATER_OR_EQUAL ->
          false;
    };
  }
}
