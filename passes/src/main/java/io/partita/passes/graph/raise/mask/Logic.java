package io.partita.passes.graph.raise.mask;

import io.partita.ir.function.BinaryFunction;
import io.partita.ir.type.Dim;
import io.partita.ir.type.ElementType;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Arithmetic and logic of formulas; comparisons are decided by the bounds of indices if possible.
 */
final class Logic {
  private static final Dim MINUS_ONE = Dim.of(-1);

  private final List<Dim> extents;

  Logic(List<Dim> extents) {
    this.extents = extents;
  }

  boolean isAtLeast(Affine value, Dim bound) {
    return value.lower(extents).filter(low -> low.minus(bound).isAtLeast(0)).isPresent();
  }

  boolean isBelow(Affine value, Dim bound) {
    return value.upper(extents).filter(high -> bound.minus(high).isAtLeast(1)).isPresent();
  }

  /** Returns an index of an extent; a negative one counts from the end. */
  Optional<Affine> place(Meaning meaning, Dim extent) {
    if (!(meaning instanceof Affine place)) {
      return Optional.empty();
    }
    if (isAtLeast(place, Dim.ZERO)) {
      return Optional.of(place);
    }
    return isBelow(place, Dim.ZERO) ? Optional.of(place.plus(extent)) : Optional.empty();
  }

  Meaning not(Meaning operand) {
    return switch (operand) {
      case Meaning.Truth(boolean value) -> new Meaning.Truth(!value);
      case Meaning.AtMostZero(Affine difference) ->
          atMostZero(difference.times(MINUS_ONE).plus(Dim.ONE));
      case Meaning.Not(Meaning inner) -> inner;
      case Meaning.Unknown unknown -> unknown;
      case Affine affine -> new Meaning.Not(affine);
      case Meaning.Number number -> new Meaning.Not(number);
      case Meaning.All all -> new Meaning.Not(all);
      case Meaning.Choice choice -> new Meaning.Not(choice);
      case Meaning.Lookup lookup -> new Meaning.Not(lookup);
    };
  }

  Meaning atMostZero(Affine difference) {
    if (isBelow(difference, Dim.ONE)) {
      return new Meaning.Truth(true);
    }
    return isAtLeast(difference, Dim.ONE)
        ? new Meaning.Truth(false)
        : new Meaning.AtMostZero(difference);
  }

  private Meaning equal(Affine left, Affine right) {
    Affine difference = left.minus(right);
    if (difference.isConstant() && difference.constant().is(0)) {
      return new Meaning.Truth(true);
    }
    return isAtLeast(difference, Dim.ONE) || isBelow(difference, Dim.ZERO)
        ? new Meaning.Truth(false)
        : new Meaning.Unknown("an equality of indices");
  }

  Meaning all(Meaning left, Meaning right) {
    if (left instanceof Meaning.Truth(boolean value)) {
      return value ? right : left;
    }
    if (right instanceof Meaning.Truth(boolean value)) {
      return value ? left : right;
    }
    List<Meaning> parts = new ArrayList<>(parts(left));
    parts(right).stream().filter(part -> !parts.contains(part)).forEach(parts::add);
    return parts.size() == 1 ? parts.getFirst() : new Meaning.All(parts);
  }

  static List<Meaning> parts(Meaning meaning) {
    return meaning instanceof Meaning.All(List<Meaning> parts) ? parts : List.of(meaning);
  }

  Meaning binary(BinaryFunction function, Meaning left, Meaning right) {
    return switch (function) {
      case AND -> all(truth(left), truth(right));
      case OR -> not(all(not(truth(left)), not(truth(right))));
      case ADD -> sum(left, right);
      case SUB, MUL, MIN, MAX -> arithmetic(function, left, right);
      case LESS_OR_EQUAL, LESS, GREATER, GREATER_OR_EQUAL, EQUAL -> compare(function, left, right);
      case DIV, POW, MOD, REMAINDER, XOR, BIT_AND, BIT_OR, BIT_XOR, SHIFT_LEFT, SHIFT_RIGHT ->
          new Meaning.Unknown(function.text() + " in the mask");
    };
  }

  /** Combines two masks: {@code (a ? 0 : -m) + (b ? 0 : -m) = a and b ? 0 : -m}. */
  private Meaning sum(Meaning left, Meaning right) {
    if (left instanceof Affine a && right instanceof Affine b) {
      return a.plus(b);
    }
    if (isZero(left)) {
      return right;
    }
    if (isZero(right)) {
      return left;
    }
    if (left instanceof Meaning.Choice a
        && right instanceof Meaning.Choice b
        && isZero(a.then())
        && isZero(b.then())
        && a.otherwise().equals(b.otherwise())) {
      return choice(all(a.condition(), b.condition()), a.then(), a.otherwise());
    }
    return left instanceof Meaning.Number(double a) && right instanceof Meaning.Number(double b)
        ? new Meaning.Number(a + b)
        : new Meaning.Unknown("a sum in the mask");
  }

  private static boolean isZero(Meaning meaning) {
    return meaning instanceof Meaning.Number(double value) && value == 0
        || meaning instanceof Affine affine && affine.isConstant() && affine.constant().is(0);
  }

  private Meaning arithmetic(BinaryFunction function, Meaning left, Meaning right) {
    if (left instanceof Affine a && right instanceof Affine b) {
      if (function == BinaryFunction.SUB) {
        return a.minus(b);
      }
      if (function == BinaryFunction.MUL && (a.isConstant() || b.isConstant())) {
        return a.isConstant() ? b.times(a.constant()) : a.times(b.constant());
      }
      if (function == BinaryFunction.MIN || function == BinaryFunction.MAX) {
        Affine difference = a.minus(b);
        boolean isMax = function == BinaryFunction.MAX;
        if (isAtLeast(difference, Dim.ZERO)) {
          return isMax ? a : b;
        }
        if (isBelow(difference, Dim.ONE)) {
          return isMax ? b : a;
        }
      }
    }
    if (left instanceof Meaning.Number(double a) && right instanceof Meaning.Number(double b)) {
      return numbers(function, a, b);
    }
    return new Meaning.Unknown(function.text() + " in the mask");
  }

  private static Meaning numbers(BinaryFunction function, double a, double b) {
    if (function == BinaryFunction.SUB) {
      return new Meaning.Number(a - b);
    }
    if (function == BinaryFunction.MUL) {
      return new Meaning.Number(a * b);
    }
    return new Meaning.Number(function == BinaryFunction.MIN ? Math.min(a, b) : Math.max(a, b));
  }

  private Meaning compare(BinaryFunction function, Meaning left, Meaning right) {
    if (!(left instanceof Affine a && right instanceof Affine b)) {
      return new Meaning.Unknown("a comparison of values that aren't indices");
    }
    Affine difference = a.minus(b);
    Affine opposite = difference.times(MINUS_ONE);
    if (function == BinaryFunction.EQUAL) {
      return equal(a, b);
    }
    boolean isLess = function == BinaryFunction.LESS || function == BinaryFunction.LESS_OR_EQUAL;
    boolean isStrict = function == BinaryFunction.LESS || function == BinaryFunction.GREATER;
    Affine atMost = isLess ? difference : opposite;
    return atMostZero(isStrict ? atMost.plus(Dim.ONE) : atMost);
  }

  /** Joins two choices of the same last value: {@code a ? (b ? x : y) : y = a and b ? x : y}. */
  Meaning choice(Meaning condition, Meaning then, Meaning otherwise) {
    Meaning truth = truth(condition);
    if (truth instanceof Meaning.Truth(boolean value)) {
      return value ? then : otherwise;
    }
    if (then instanceof Meaning.Choice inner && inner.otherwise().equals(otherwise)) {
      return choice(all(truth, inner.condition()), inner.then(), otherwise);
    }
    return then.equals(otherwise) ? then : new Meaning.Choice(truth, then, otherwise);
  }

  /** Returns a number as a truth value: whether it is not 0. */
  private Meaning truth(Meaning meaning) {
    return switch (meaning) {
      case Affine affine when affine.isConstant() && affine.constant().isStatic() ->
          new Meaning.Truth(!affine.constant().is(0));
      case Meaning.Number(double value) -> new Meaning.Truth(value != 0);
      case Meaning.Choice(Meaning condition, Meaning then, Meaning otherwise)
          when truth(then).equals(new Meaning.Truth(true))
              && truth(otherwise).equals(new Meaning.Truth(false)) ->
          condition;
      case Meaning.Choice(Meaning condition, Meaning then, Meaning otherwise)
          when truth(then).equals(new Meaning.Truth(false))
              && truth(otherwise).equals(new Meaning.Truth(true)) ->
          not(condition);
      case Meaning other -> other;
    };
  }

  Meaning cast(Meaning operand, ElementType to) {
    if (to == ElementType.BOOL) {
      return truth(operand);
    }
    return switch (operand) {
      case Meaning.Truth(boolean value) ->
          Affine.constant(value ? Dim.ONE : Dim.ZERO, extents.size());
      case Meaning.AtMostZero condition -> oneOrZero(condition);
      case Meaning.All condition -> oneOrZero(condition);
      case Meaning.Not condition -> oneOrZero(condition);
      case Affine affine -> affine;
      case Meaning.Number number -> number;
      case Meaning.Choice choice -> choice;
      case Meaning.Lookup lookup -> lookup;
      case Meaning.Unknown unknown -> unknown;
    };
  }

  private Meaning oneOrZero(Meaning condition) {
    return new Meaning.Choice(
        condition,
        Affine.constant(Dim.ONE, extents.size()),
        Affine.constant(Dim.ZERO, extents.size()));
  }
}
