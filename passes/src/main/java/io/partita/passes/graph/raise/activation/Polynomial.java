package io.partita.passes.graph.raise.activation;

import io.partita.ir.function.BinaryFunction;
import io.partita.ir.function.UnaryFunction;
import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Elementwise;
import io.partita.ir.type.ElementType;
import io.partita.passes.graph.raise.Parameters;
import java.util.OptionalDouble;

/**
 * An expression as a polynomial of two values: {@code sum of c[i][j] x^i s^j}. The polynomial of a
 * formula does not depend on the order and grouping of its products and sums.
 */
record Polynomial(double[][] coefficients) {
  /** The number of coefficients per value: one more than the highest degree. */
  private static final int DEGREES = 4;

  private static final int MAX_STEPS = 24;

  static Polynomial number(double number) {
    return term(number, 0, 0);
  }

  static Polynomial term(double coefficient, int x, int s) {
    double[][] coefficients = new double[DEGREES][DEGREES];
    coefficients[x][s] = coefficient;
    return new Polynomial(coefficients);
  }

  /**
   * Returns {@code value} as a polynomial of {@code x} and {@code s}; null if it isn't an
   * elementwise polynomial of low degree.
   */
  static Polynomial of(Value value, Value x, Value s, GraphEditor graph) {
    return new Expansion(x, s, graph).of(value);
  }

  private static final class Expansion {
    private final Value x;
    private final Value s;
    private final GraphEditor graph;
    private int steps;

    Expansion(Value x, Value s, GraphEditor graph) {
      this.x = x;
      this.s = s;
      this.graph = graph;
    }

    Polynomial of(Value value) {
      Value at = graph.resolve(value);
      if (at == x) {
        return term(1, 1, 0);
      }
      if (at == s) {
        return term(1, 0, 1);
      }
      OptionalDouble number = Parameters.uniform(at, graph);
      if (number.isPresent()) {
        return number(number.getAsDouble());
      }
      Node node = graph.definition(at).orElse(null);
      if (node == null || steps++ > MAX_STEPS || !at.type().equals(x.type())) {
        return null;
      }
      return switch (node.op()) {
        case Elementwise.Unary(UnaryFunction function) when function == UnaryFunction.NEG ->
            product(of(graph.operand(node, 0)), number(-1));
        case Elementwise.Binary(BinaryFunction function) -> binary(function, node);
        case io.partita.ir.op.Op other -> null;
      };
    }

    private Polynomial binary(BinaryFunction function, Node node) {
      Polynomial left = of(graph.operand(node, 0));
      Polynomial right = left == null ? null : of(graph.operand(node, 1));
      if (right == null) {
        return null;
      }
      return switch (function) {
        case ADD -> sum(left, right);
        case SUB -> sum(left, product(right, number(-1)));
        case MUL -> product(left, right);
        case DIV -> right.isNumber() ? product(left, number(1 / right.constant())) : null;
        case POW -> right.isNumber() ? power(left, right.constant()) : null;
        case MOD,
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
            SHIFT_RIGHT,
            EQUAL,
            LESS,
            LESS_OR_EQUAL,
            GREATER,
            GREATER_OR_EQUAL ->
            null;
      };
    }
  }

  private double constant() {
    return coefficients[0][0];
  }

  private boolean isNumber() {
    return isWithin(number(constant()), 0);
  }

  private static Polynomial sum(Polynomial left, Polynomial right) {
    double[][] sum = new double[DEGREES][DEGREES];
    for (int i = 0; i < DEGREES; i++) {
      for (int j = 0; j < DEGREES; j++) {
        sum[i][j] = left.coefficients[i][j] + right.coefficients[i][j];
      }
    }
    return new Polynomial(sum);
  }

  private static Polynomial product(Polynomial left, Polynomial right) {
    if (left == null || right == null) {
      return null;
    }
    double[][] product = new double[DEGREES][DEGREES];
    for (int i = 0; i < DEGREES * DEGREES; i++) {
      for (int j = 0; j < DEGREES * DEGREES; j++) {
        double term =
            left.coefficients[i / DEGREES][i % DEGREES]
                * right.coefficients[j / DEGREES][j % DEGREES];
        int x = i / DEGREES + j / DEGREES;
        int s = i % DEGREES + j % DEGREES;
        if (term != 0 && (x >= DEGREES || s >= DEGREES)) {
          return null;
        }
        if (term != 0) {
          product[x][s] += term;
        }
      }
    }
    return new Polynomial(product);
  }

  private static Polynomial power(Polynomial base, double exponent) {
    if (exponent != Math.rint(exponent) || exponent < 1 || exponent >= DEGREES) {
      return null;
    }
    Polynomial power = base;
    for (int i = 1; i < exponent && power != null; i++) {
      power = product(power, base);
    }
    return power;
  }

  /** Whether the coefficients are these, up to the rounding of factors to the element type. */
  boolean isNear(Polynomial other, ElementType element) {
    return isWithin(
        other,
        switch (element) {
          case BF16 -> 0x1p-6;
          case F16 -> 0x1p-8;
          case F32, F64, I64, I32, I16, I8, I4, U64, U32, U16, U8, U4, BOOL -> 1e-5;
        });
  }

  private boolean isWithin(Polynomial other, double relative) {
    for (int i = 0; i < DEGREES; i++) {
      for (int j = 0; j < DEGREES; j++) {
        double expected = other.coefficients[i][j];
        if (!(Math.abs(coefficients[i][j] - expected) <= relative * Math.abs(expected))) {
          return false;
        }
      }
    }
    return true;
  }
}
