package io.partita.backend.siracusa;

import io.partita.ir.eval.OpEvaluator;
import io.partita.ir.function.Combine;
import io.partita.ir.function.ReductionKind;
import io.partita.ir.function.UnaryFunction;
import io.partita.ir.op.Contraction;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.IntegerNetwork;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Op;
import io.partita.ir.op.Quantized;
import io.partita.ir.op.Reduction;
import io.partita.ir.op.Structured;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.ElementType;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

/**
 * An operation on operands.
 *
 * @param constants the index of the first constant operand
 */
record OperationCase(Op op, List<Tensor> operands, int constants) {
  /**
   * The tolerance relative to {@code 1 + |result|}. For operands of magnitude 1, kernels state
   * bounds below 50 u, plus a few u per term of a sum or key of an attention, of which there are at
   * most 300 here.
   */
  private static final double BOUND = 400 * 0x1p-24;

  OperationCase(Op op, List<Tensor> operands) {
    this(op, operands, operands.size());
  }

  List<Tensor> expected() {
    return OpEvaluator.evaluate(op, operands);
  }

  /** Returns a description of wrong results, if any. */
  Optional<String> difference(List<Tensor> actual) {
    List<Tensor> expected = expected();
    return IntStream.range(0, expected.size())
        .mapToObj(result -> difference(actual.get(result), expected.get(result)))
        .flatMap(Optional::stream)
        .findFirst();
  }

  private Optional<String> difference(Tensor actual, Tensor expected) {
    if (!actual.type().equals(expected.type())) {
      return Optional.of(this + ": " + actual.type() + ", not " + expected.type());
    }
    boolean isFloat = expected.element().isFloat();
    double bound = isFloat && !isExact(op) ? BOUND : 0;
    if (!isMoved(op)) {
      bound = Math.max(bound, rounding(expected.element()));
    }
    for (int i = 0; i < expected.size(); i++) {
      boolean same =
          isFloat
              ? near(actual.getDouble(i), expected.getDouble(i), bound)
              : actual.getLong(i) == expected.getLong(i);
      if (!same) {
        return Optional.of(
            "%s: element %d is %s and not %s"
                .formatted(this, i, text(actual, i), text(expected, i)));
      }
    }
    return Optional.empty();
  }

  private static String text(Tensor tensor, int i) {
    return tensor.element().isFloat() ? "" + tensor.getDouble(i) : "" + tensor.getLong(i);
  }

  private static boolean near(double actual, double expected, double bound) {
    return Double.compare(actual, expected) == 0
        || Math.abs(actual - expected) <= bound * (1 + Math.abs(expected));
  }

  /** Whether updates are combined with existing elements. */
  private static boolean joins(Movement op) {
    return op instanceof Movement.ScatterElements(int axis, var reduction)
            && reduction != Combine.REPLACE
        || op instanceof Movement.ScatterNd(var joined) && joined != Combine.REPLACE;
  }

  private static boolean isMoved(Op op) {
    return op instanceof Movement movement && !joins(movement)
        || op instanceof Structured.CacheUpdate
        || op instanceof Structured.Embedding
        || op instanceof Elementwise.Select;
  }

  /** The evaluator rounds to 16 bits after each sum and function, emitted code at the end. */
  private static double rounding(ElementType element) {
    return switch (element) {
      case F16 -> 4 * 0x1p-11;
      case BF16 -> 4 * 0x1p-8;
      case F64, F32, I64, I32, I16, I8, I4, U64, U32, U16, U8, U4, BOOL -> 0;
    };
  }

  /** Whether kernels are bit-exact. */
  private static boolean isExact(Op op) {
    return switch (op) {
      case Movement movement -> true;
      case Contraction.MatMul product -> true;
      case Contraction.NibbleMatMul product -> true;
      case Structured.Linear linear -> true;
      case Structured.CacheUpdate update -> true;
      case Structured.Embedding embedding -> true;
      case Elementwise.Unary(UnaryFunction function) -> isExact(function);
      case Elementwise.Binary binary ->
          binary.function() != io.partita.ir.function.BinaryFunction.POW;
      case Elementwise elementwise -> true;
      case Reduction.Reduce(var kind, var axes, var keeps) ->
          kind == ReductionKind.MAX || kind == ReductionKind.MIN;
      case Reduction.Softmax softmax -> false;
      case Reduction reduction -> true;
      case Quantized quantized -> true;
      case IntegerNetwork network -> true;
      case Op other -> false;
    };
  }

  private static boolean isExact(UnaryFunction function) {
    return switch (function) {
      case ABS, NEG, SIGN, CEIL, FLOOR, ROUND, SQRT, RECIPROCAL, RELU -> true;
      case UnaryFunction other -> other.isPredicate();
    };
  }

  @Override
  public String toString() {
    return op + " of " + operands.stream().map(Tensor::type).toList();
  }
}
