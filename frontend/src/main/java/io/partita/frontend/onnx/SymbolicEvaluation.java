package io.partita.frontend.onnx;

import io.partita.ir.function.BinaryFunction;
import io.partita.ir.function.UnaryFunction;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Op;
import io.partita.ir.op.Reduction;
import io.partita.ir.op.Source;
import io.partita.ir.type.Dim;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;

/**
 * Evaluates integer operations on small tensors of polynomials over dimension symbols (booleans are
 * 0 and 1), if the result is the same polynomial for all symbols.
 */
final class SymbolicEvaluation {
  private SymbolicEvaluation() {}

  /** The largest number of elements in shape arithmetic. */
  static final int MAX_ELEMENTS = 4096;

  /** The largest number of terms, because products would grow without bound. */
  private static final int MAX_POLYNOMIAL_LENGTH = 1000;

  /** The static shape of an operand and its elements in row-major order. */
  record Elements(Shape shape, List<Dim> dims) {
    Dim at(long index) {
      return dims.get((int) index);
    }
  }

  /**
   * Returns the elements of the result; empty if no polynomials hold for all values of the symbols.
   *
   * @param result the type of the result, with integer or boolean elements and a static shape
   */
  static Optional<List<Dim>> evaluate(Op op, List<Elements> operands, TensorType result) {
    // Narrow integers wrap, but polynomials don't.
    boolean wide = result.element().bits() >= 32 || result.element() == ElementType.BOOL;
    if (!wide || !result.isStatic() || result.shape().elements() > MAX_ELEMENTS) {
      return Optional.empty();
    }
    List<Dim> dims;
    try {
      dims = elements(op, operands, result);
    } catch (ArithmeticException overflow) {
      return Optional.empty();
    }
    boolean known =
        dims != null
            && dims.stream()
                .allMatch(
                    dim ->
                        dim != null
                            && (dim.isStatic() || dim.toString().length() < MAX_POLYNOMIAL_LENGTH));
    return known ? Optional.of(List.copyOf(dims)) : Optional.empty();
  }

  private static List<Dim> elements(Op op, List<Elements> operands, TensorType result) {
    return switch (op) {
      case Source.Extent(Dim size) -> List.of(size);
      case Source.Iota(Dim size, var element) ->
          java.util.stream.LongStream.range(0, size.value()).mapToObj(Dim::of).toList();
      case Elementwise.Unary(UnaryFunction function) ->
          map(operands.getFirst(), dim -> unary(function, dim));
      case Elementwise.Binary(BinaryFunction function) -> {
        List<Dim> dims = new ArrayList<>();
        List<Dim> left = broadcast(operands.get(0), result.shape());
        List<Dim> right = broadcast(operands.get(1), result.shape());
        for (int i = 0; i < left.size(); i++) {
          dims.add(binary(function, left.get(i), right.get(i)));
        }
        yield dims;
      }
      case Elementwise.Select() -> {
        List<Dim> dims = new ArrayList<>();
        List<Dim> condition = broadcast(operands.get(0), result.shape());
        List<Dim> then = broadcast(operands.get(1), result.shape());
        List<Dim> otherwise = broadcast(operands.get(2), result.shape());
        for (int i = 0; i < condition.size(); i++) {
          dims.add(condition.get(i).is(0) ? otherwise.get(i) : then.get(i));
        }
        yield dims;
      }
      case Elementwise.Cast(var to) ->
          to.isInteger()
              ? operands.getFirst().dims()
              : map(operands.getFirst(), dim -> dim.is(0) ? Dim.ZERO : isPositive(dim));
      case Movement.Reshape(Shape to) -> operands.getFirst().dims();
      case Movement.Broadcast(Shape to) -> broadcast(operands.getFirst(), to);
      case Movement.Transpose(List<Integer> permutation) ->
          transpose(operands.getFirst(), permutation);
      case Movement.Slice slice -> slice(operands.getFirst(), slice);
      case Movement.Concat(int axis) -> concat(operands, axis);
      case Movement.Gather(int axis) -> gather(operands.get(0), operands.get(1), axis);
      case Reduction.Reduce reduce -> reduce(operands.getFirst(), reduce, result);
      case Op other -> null;
    };
  }

  /** Returns a boolean: at least 1 is true. */
  private static Dim isPositive(Dim dim) {
    return dim.isAtLeast(1) ? Dim.ONE : null;
  }

  private static List<Dim> map(Elements operand, java.util.function.UnaryOperator<Dim> function) {
    List<Dim> dims = new ArrayList<>();
    operand.dims().forEach(dim -> dims.add(function.apply(dim)));
    return dims;
  }

  /** Returns null if it depends on the symbols. */
  private static Dim unary(UnaryFunction function, Dim dim) {
    return switch (function) {
      case NEG -> Dim.ZERO.minus(dim);
      case NOT -> dim.is(0) ? Dim.ONE : Dim.ZERO;
      case ABS, RELU -> dim.isAtLeast(0) ? dim : null;
      case SIGN -> dim.is(0) ? Dim.ZERO : isPositive(dim);
      case UnaryFunction other -> null;
    };
  }

  private static Dim binary(BinaryFunction function, Dim left, Dim right) {
    Dim difference = left.minus(right);
    Boolean less = isLess(left, right);
    Boolean greater = isLess(right, left);
    return switch (function) {
      case ADD -> left.plus(right);
      case SUB -> difference;
      case MUL -> left.times(right);
      case DIV -> quotient(left, right);
      case MOD, REMAINDER -> remainder(left, right);
      case MIN ->
          less == null && greater == null ? null : isTrue(less) || isFalse(greater) ? left : right;
      case MAX ->
          less == null && greater == null ? null : isTrue(less) || isFalse(greater) ? right : left;
      case AND -> left.is(0) || right.is(0) ? Dim.ZERO : Dim.ONE;
      case OR -> left.is(0) && right.is(0) ? Dim.ZERO : Dim.ONE;
      case XOR -> left.is(0) == right.is(0) ? Dim.ZERO : Dim.ONE;
      case EQUAL -> isTrue(less) || isTrue(greater) ? Dim.ZERO : difference.is(0) ? Dim.ONE : null;
      case LESS -> truth(less);
      case GREATER -> truth(greater);
      case LESS_OR_EQUAL -> greater == null ? null : truth(!greater);
      case GREATER_OR_EQUAL -> less == null ? null : truth(!less);
      case BinaryFunction other -> null;
    };
  }

  /** Whether {@code left < right}; null if it depends on the symbols. */
  private static Boolean isLess(Dim left, Dim right) {
    if (right.minus(left).isAtLeast(1)) {
      return true;
    }
    return left.minus(right).isAtLeast(0) ? false : null;
  }

  private static boolean isTrue(Boolean truth) {
    return truth != null && truth;
  }

  private static boolean isFalse(Boolean truth) {
    return truth != null && !truth;
  }

  private static Dim truth(Boolean truth) {
    return truth == null ? null : truth ? Dim.ONE : Dim.ZERO;
  }

  /** Divides like the operation: truncates towards zero, and division by zero gives 0. */
  private static Dim quotient(Dim left, Dim right) {
    if (right.is(0)) {
      return Dim.ZERO;
    }
    if (left.isStatic() && right.isStatic()) {
      return Dim.of(left.value() / right.value());
    }
    return left.dividedExactlyBy(right);
  }

  private static Dim remainder(Dim left, Dim right) {
    if (left.isStatic() && right.isStatic()) {
      return right.is(0) || left.value() < 0 || right.value() < 0
          ? null
          : Dim.of(left.value() % right.value());
    }
    return left.dividedExactlyBy(right) != null ? Dim.ZERO : null;
  }

  private static List<Dim> broadcast(Elements operand, Shape to) {
    long[] strides = new long[to.rank()];
    long[] own = operand.shape().strides();
    int missing = to.rank() - operand.shape().rank();
    for (int axis = missing; axis < to.rank(); axis++) {
      strides[axis] = operand.shape().dim(axis - missing).is(1) ? 0 : own[axis - missing];
    }
    return strided(operand, to, 0, strides);
  }

  private static List<Dim> transpose(Elements operand, List<Integer> permutation) {
    long[] own = operand.shape().strides();
    long[] strides = permutation.stream().mapToLong(axis -> own[axis]).toArray();
    Shape to = new Shape(permutation.stream().map(operand.shape()::dim).toList());
    return strided(operand, to, 0, strides);
  }

  /** Returns null if the selected elements depend on the symbols. */
  private static List<Dim> slice(Elements operand, Movement.Slice slice) {
    if (!slice.starts().stream().allMatch(Dim::isStatic)) {
      return null;
    }
    long[] own = operand.shape().strides();
    long[] strides = new long[own.length];
    long start = 0;
    for (int axis = 0; axis < own.length; axis++) {
      start += slice.starts().get(axis).value() * own[axis];
      strides[axis] = own[axis] * slice.steps().get(axis);
    }
    return strided(operand, new Shape(slice.sizes()), start, strides);
  }

  /**
   * Returns the elements at {@code start + Σ index[axis] strides[axis]} for each index below a
   * shape.
   */
  private static List<Dim> strided(Elements operand, Shape to, long start, long[] strides) {
    List<Dim> dims = new ArrayList<>();
    long[] index = new long[to.rank()];
    long elements = to.elements();
    for (long i = 0; i < elements; i++) {
      long place = start;
      for (int axis = 0; axis < index.length; axis++) {
        place += index[axis] * strides[axis];
      }
      dims.add(operand.at(place));
      for (int axis = index.length - 1; axis >= 0 && ++index[axis] == to.extent(axis); axis--) {
        index[axis] = 0;
      }
    }
    return dims;
  }

  private static long product(Shape shape, int from, int to) {
    return shape.range(from, to).elements();
  }

  private static List<Dim> concat(List<Elements> operands, int axis) {
    List<Dim> dims = new ArrayList<>();
    long outer = product(operands.getFirst().shape(), 0, axis);
    for (long i = 0; i < outer; i++) {
      for (Elements operand : operands) {
        long block = product(operand.shape(), axis, operand.shape().rank());
        for (long j = 0; j < block; j++) {
          dims.add(operand.at(i * block + j));
        }
      }
    }
    return dims;
  }

  private static List<Dim> gather(Elements data, Elements indices, int axis) {
    List<Dim> dims = new ArrayList<>();
    long outer = product(data.shape(), 0, axis);
    long extent = data.shape().extent(axis);
    long inner = product(data.shape(), axis + 1, data.shape().rank());
    for (long i = 0; i < outer; i++) {
      for (Dim index : indices.dims()) {
        if (!index.isStatic() || index.value() < -extent || index.value() >= extent) {
          return null;
        }
        long at = index.value() < 0 ? index.value() + extent : index.value();
        for (long j = 0; j < inner; j++) {
          dims.add(data.at((i * extent + at) * inner + j));
        }
      }
    }
    return dims;
  }

  private static List<Dim> reduce(Elements operand, Reduction.Reduce reduce, TensorType result) {
    BinaryFunction join =
        switch (reduce.reduction()) {
          case SUM -> BinaryFunction.ADD;
          case PRODUCT -> BinaryFunction.MUL;
          case MAX -> BinaryFunction.MAX;
          case MIN -> BinaryFunction.MIN;
          case MEAN -> null;
        };
    Shape shape = operand.shape();
    if (join == null || shape.elements() == 0) {
      return null;
    }
    List<Dim> sums = new ArrayList<>(Collections.nCopies((int) result.shape().elements(), null));
    long[] strides = new long[shape.rank()];
    long stride = 1;
    for (int axis = shape.rank() - 1; axis >= 0; axis--) {
      if (!reduce.axes().contains(axis)) {
        strides[axis] = stride;
        stride *= shape.extent(axis);
      }
    }
    List<Dim> places = strided(iota(sums.size()), shape, 0, strides);
    for (int i = 0; i < places.size(); i++) {
      int place = (int) places.get(i).value();
      Dim before = sums.get(place);
      Dim joined = before == null ? operand.at(i) : binary(join, before, operand.at(i));
      if (joined == null) {
        return null;
      }
      sums.set(place, joined);
    }
    return sums;
  }

  private static Elements iota(int size) {
    List<Dim> dims = new ArrayList<>();
    for (int i = 0; i < size; i++) {
      dims.add(Dim.of(i));
    }
    return new Elements(Shape.of(size), dims);
  }
}
