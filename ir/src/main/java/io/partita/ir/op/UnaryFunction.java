package io.partita.ir.op;

import java.util.Locale;

/** Functions of one element. The comments give the definition where the name alone doesn't. */
public enum UnaryFunction {
  ABS,
  NEG,
  /** -1, 0 or 1 (NaN stays NaN). */
  SIGN,
  CEIL,
  FLOOR,
  /** To the nearest integer, half to even. */
  ROUND,
  SQRT,
  /** 1/x. */
  RECIPROCAL,
  EXP,
  LOG,
  SIN,
  COS,
  TAN,
  ASIN,
  ACOS,
  ATAN,
  SINH,
  COSH,
  TANH,
  ASINH,
  ACOSH,
  ATANH,
  ERF,
  /** 1/(1+e^-x). */
  SIGMOID,
  /** max(x, 0). */
  RELU,
  /** ln(1+e^x). */
  SOFTPLUS,
  /** x/2 (1+erf(x/√2)). */
  GELU,
  /** x/2 (1+tanh(√(2/π) (x+0.044715 x³))). */
  GELU_TANH,
  /** x sigmoid(x). */
  SILU,
  /** x max(min(x/6+1/2, 1), 0). */
  HARD_SWISH,
  /** x sigmoid(1.702 x). */
  QUICK_GELU,
  IS_NAN,
  IS_POSITIVE_INFINITY,
  IS_NEGATIVE_INFINITY,
  /** Of a boolean. */
  NOT,
  /** Of an integer's bits. */
  BIT_NOT;

  public String text() {
    return name().toLowerCase(Locale.ROOT);
  }

  /** Whether the result is boolean. */
  public boolean isPredicate() {
    return switch (this) {
      case IS_NAN, IS_POSITIVE_INFINITY, IS_NEGATIVE_INFINITY, NOT -> true;
      case ABS,
          NEG,
          SIGN,
          CEIL,
          FLOOR,
          ROUND,
          SQRT,
          RECIPROCAL,
          EXP,
          LOG,
          SIN,
          COS,
          TAN,
          ASIN,
          ACOS,
          ATAN,
          SINH,
          COSH,
          TANH,
          ASINH,
          ACOSH,
          ATANH,
          ERF,
          SIGMOID,
          RELU,
          SOFTPLUS,
          GELU,
          GELU_TANH,
          SILU,
          HARD_SWISH,
          QUICK_GELU,
          BIT_NOT ->
          false;
    };
  }

  /** Whether the function is defined on integers too (and keeps their type). */
  public boolean acceptsIntegers() {
    return switch (this) {
      case ABS, NEG, SIGN, RELU, BIT_NOT -> true;
      case NOT,
          IS_NAN,
          IS_POSITIVE_INFINITY,
          IS_NEGATIVE_INFINITY,
          CEIL,
          FLOOR,
          ROUND,
          SQRT,
          RECIPROCAL,
          EXP,
          LOG,
          SIN,
          COS,
          TAN,
          ASIN,
          ACOS,
          ATAN,
          SINH,
          COSH,
          TANH,
          ASINH,
          ACOSH,
          ATANH,
          ERF,
          SIGMOID,
          SOFTPLUS,
          GELU,
          GELU_TANH,
          SILU,
          HARD_SWISH,
          QUICK_GELU ->
          false;
    };
  }

  /** Whether implementations approximate it, each in its own way. */
  public boolean isApproximated() {
    return switch (this) {
      case EXP,
          LOG,
          SIN,
          COS,
          TAN,
          ASIN,
          ACOS,
          ATAN,
          SINH,
          COSH,
          TANH,
          ASINH,
          ACOSH,
          ATANH,
          ERF,
          SIGMOID,
          SOFTPLUS,
          GELU,
          GELU_TANH,
          SILU,
          HARD_SWISH,
          QUICK_GELU ->
          true;
      case ABS,
          NEG,
          SIGN,
          CEIL,
          FLOOR,
          ROUND,
          SQRT,
          RECIPROCAL,
          RELU,
          IS_NAN,
          IS_POSITIVE_INFINITY,
          IS_NEGATIVE_INFINITY,
          NOT,
          BIT_NOT ->
          false;
    };
  }
}
