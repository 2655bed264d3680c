package io.partita.ir.function;

import io.partita.ir.type.ElementType;
import java.util.Locale;
import java.util.Optional;
import java.util.function.DoublePredicate;
import java.util.function.DoubleUnaryOperator;
import java.util.function.LongUnaryOperator;

/**
 * Functions of one element, each with its meaning, its properties and the equivalent ONNX operator.
 * Backends add the code.
 */
public enum UnaryFunction {
  ABS(exact(Math::abs).integers(Math::abs, x -> x).onnx("Abs")),
  NEG(exact(x -> -x).integers(x -> -x, x -> -x).additive().onnx("Neg")),
  /** -1, 0 or 1; NaN stays NaN. */
  SIGN(exact(Math::signum).integers(Long::signum, x -> x == 0 ? 0 : 1).onnx("Sign")),
  CEIL(exact(Math::ceil).keepsExtremes().onnx("Ceil")),
  FLOOR(exact(Math::floor).keepsExtremes().onnx("Floor")),
  /** To the nearest integer, half to even. */
  ROUND(exact(Math::rint).keepsExtremes().onnx("Round")),
  SQRT(exact(Math::sqrt).costly().onnx("Sqrt")),
  /** 1/x. */
  RECIPROCAL(exact(x -> 1 / x).costly().onnx("Reciprocal")),
  EXP(approximated(Math::exp).keepsExtremes().onnx("Exp")),
  LOG(approximated(Math::log).onnx("Log")),
  SIN(approximated(Math::sin).onnx("Sin")),
  COS(approximated(Math::cos).onnx("Cos")),
  TAN(approximated(Math::tan).onnx("Tan")),
  ASIN(approximated(Math::asin).onnx("Asin")),
  ACOS(approximated(Math::acos).onnx("Acos")),
  ATAN(approximated(Math::atan).onnx("Atan")),
  SINH(approximated(Math::sinh).onnx("Sinh")),
  COSH(approximated(Math::cosh).onnx("Cosh")),
  TANH(approximated(Math::tanh).onnx("Tanh")),
  ASINH(approximated(DoubleFunctions::asinh).onnx("Asinh")),
  ACOSH(approximated(DoubleFunctions::acosh).onnx("Acosh")),
  ATANH(approximated(DoubleFunctions::atanh).onnx("Atanh")),
  ERF(approximated(ErrorFunction::erf).onnx("Erf")),
  /** 1/(1+e^-x). */
  SIGMOID(approximated(x -> 1 / (1 + Math.exp(-x))).onnx("Sigmoid")),
  /** max(x, 0). */
  RELU(
      exact(x -> Math.max(x, 0))
          .integers(x -> Math.max(x, 0), x -> x)
          .keepsExtremes()
          .onnx("Relu")),
  /** ln(1+e^x). */
  SOFTPLUS(approximated(x -> Math.max(x, 0) + Math.log1p(Math.exp(-Math.abs(x)))).onnx("Softplus")),
  /** x/2 (1+erf(x/√2)). */
  GELU(approximated(DoubleFunctions::gelu)),
  /** x/2 (1+tanh(√(2/π) (x+0.044715 x³))). */
  GELU_TANH(approximated(DoubleFunctions::geluTanh)),
  /** x sigmoid(x). */
  SILU(approximated(x -> x / (1 + Math.exp(-x)))),
  /** x max(min(x/6+1/2, 1), 0). */
  HARD_SWISH(approximated(x -> x * Math.max(Math.min(x / 6 + 0.5, 1), 0))),
  /** x sigmoid(1.702 x). */
  QUICK_GELU(approximated(x -> x / (1 + Math.exp(-1.702 * x)))),
  IS_NAN(predicate(x -> Double.isNaN(x)).onnx("IsNaN")),
  IS_POSITIVE_INFINITY(predicate(x -> x == Double.POSITIVE_INFINITY)),
  IS_NEGATIVE_INFINITY(predicate(x -> x == Double.NEGATIVE_INFINITY)),
  /** Of a boolean. */
  NOT(new Facts(null).booleans(x -> x == 0 ? 1 : 0).onnx("Not")),
  /** Of an integer's bits. */
  BIT_NOT(new Facts(null).integers(x -> ~x, x -> ~x).onnx("BitwiseNot"));

  private final Facts facts;

  UnaryFunction(Facts facts) {
    this.facts = facts;
  }

  public String text() {
    return name().toLowerCase(Locale.ROOT);
  }

  /** The operator of ONNX's own domain that equals this function in all versions. */
  public Optional<String> onnxOperator() {
    return Optional.ofNullable(facts.onnxOperator);
  }

  /** Whether the result is boolean. */
  public boolean isPredicate() {
    return facts.isPredicate;
  }

  /** Whether the function is defined on floats. */
  public boolean acceptsFloats() {
    return facts.ofDouble != null;
  }

  /** Whether the function is also defined on integers, and keeps their type. */
  public boolean acceptsIntegers() {
    return facts.ofSigned != null;
  }

  /** Whether the function is defined on booleans only. */
  public boolean acceptsBooleans() {
    return facts.ofBoolean != null;
  }

  /** Whether implementations approximate it, each in its own way. */
  public boolean isApproximated() {
    return facts.isApproximated;
  }

  /** Whether an element takes more than a few instructions. */
  public boolean isCostly() {
    return facts.isCostly;
  }

  /** Whether f(x + y) = f(x) + f(y), in all implementations. */
  public boolean isAdditive() {
    return facts.isAdditive;
  }

  /** Whether f(max(x, y)) = max(f(x), f(y)), and likewise for minima, in all implementations. */
  public boolean keepsExtremes() {
    return facts.keepsExtremes;
  }

  /** The meaning on floats, in double; a predicate gives 1 for true. */
  public DoubleUnaryOperator ofDouble() {
    if (facts.ofDouble == null) {
      throw notOn("floats");
    }
    return facts.ofDouble;
  }

  /** The meaning on integers and booleans: the result before it wraps to the type. */
  public LongUnaryOperator ofLong(ElementType element) {
    LongUnaryOperator operator =
        switch (element.kind()) {
          case SIGNED -> facts.ofSigned;
          case UNSIGNED -> facts.ofUnsigned;
          case BOOLEAN -> facts.ofBoolean;
          case FLOAT -> null;
        };
    if (operator == null) {
      throw notOn("integers");
    }
    return operator;
  }

  private IllegalArgumentException notOn(String elements) {
    return new IllegalArgumentException(text() + " isn't defined on " + elements);
  }

  /** Describes a function of floats whose result is exact except for one rounding. */
  private static Facts exact(DoubleUnaryOperator ofDouble) {
    return new Facts(ofDouble);
  }

  private static Facts approximated(DoubleUnaryOperator ofDouble) {
    Facts facts = new Facts(ofDouble);
    facts.isApproximated = true;
    return facts.costly();
  }

  private static Facts predicate(DoublePredicate ofDouble) {
    Facts facts = new Facts(x -> ofDouble.test(x) ? 1 : 0);
    facts.isPredicate = true;
    return facts;
  }

  /** The properties of a function, which are set before the constant is created. */
  private static final class Facts {
    private final DoubleUnaryOperator ofDouble;
    private LongUnaryOperator ofSigned;
    private LongUnaryOperator ofUnsigned;
    private LongUnaryOperator ofBoolean;
    private String onnxOperator;
    private boolean isPredicate;
    private boolean isApproximated;
    private boolean isCostly;
    private boolean isAdditive;
    private boolean keepsExtremes;

    Facts(DoubleUnaryOperator ofDouble) {
      this.ofDouble = ofDouble;
    }

    Facts integers(LongUnaryOperator signed, LongUnaryOperator unsigned) {
      ofSigned = signed;
      ofUnsigned = unsigned;
      return this;
    }

    Facts booleans(LongUnaryOperator operator) {
      ofBoolean = operator;
      isPredicate = true;
      return this;
    }

    Facts onnx(String operator) {
      onnxOperator = operator;
      return this;
    }

    Facts costly() {
      isCostly = true;
      return this;
    }

    Facts additive() {
      isAdditive = true;
      return this;
    }

    Facts keepsExtremes() {
      keepsExtremes = true;
      return this;
    }
  }
}
