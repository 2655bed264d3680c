package io.partita.ir.schedule.kernel;

import io.partita.ir.op.BinaryFunction;
import io.partita.ir.op.UnaryFunction;
import io.partita.ir.target.KernelClass;

/** Which of a chip's rates functions of elements have. */
public final class FunctionClasses {
  private FunctionClasses() {}

  public static KernelClass of(UnaryFunction function) {
    return switch (function) {
      case ABS,
          NEG,
          SIGN,
          CEIL,
          FLOOR,
          ROUND,
          RELU,
          IS_NAN,
          IS_POSITIVE_INFINITY,
          IS_NEGATIVE_INFINITY,
          NOT,
          BIT_NOT ->
          KernelClass.ELEMENTWISE;
      case SQRT,
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
          KernelClass.TRANSCENDENTAL;
    };
  }

  public static KernelClass of(BinaryFunction function) {
    return switch (function) {
      case DIV, POW, MOD, REMAINDER -> KernelClass.TRANSCENDENTAL;
      case ADD,
          SUB,
          MUL,
          MIN,
          MAX,
          AND,
          OR,
          XOR,
          BIT_AND,
          BIT_OR,
          BIT_XOR,
          SHIFT_LEFT,
          SHIFT_RIGHT,
          EQUAL,
          LESS,
          LESS_OR_EQUAL,
          GREATER,
          GREATER_OR_EQUAL ->
          KernelClass.ELEMENTWISE;
    };
  }
}
