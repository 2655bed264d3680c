package io.partita.backend.metalium;

import io.partita.ir.function.BinaryFunction;
import io.partita.ir.function.UnaryFunction;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Communication;
import io.partita.ir.op.Contraction;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.Movement;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.TensorType;
import java.util.Arrays;
import java.util.Optional;

/**
 * Integers that chips compute: bytes of codes, such as packed integers of 4 bits, and the indices
 * of centroids. Steps compute with them as with floating-point numbers, which are exact as long as
 * each value is an integer that the format has: from 0 to 255 for bytes, and more for indices in
 * f32.
 */
final class Codes {
  private static final long LARGEST = 255;

  /** Up to this number, {@link ModelSteps} rounds to integers by sums in f32. */
  private static final long LARGEST_OF_F32 = 1 << 22;

  /** Rounded numbers that nothing limits. */
  private static final Range UNLIMITED = new Range(-1L << 40, 1L << 40);

  private Codes() {}

  /** The least and the largest integer that an element may be. */
  record Range(long least, long most) {
    private Optional<Range> asCode() {
      return least >= 0 && most <= LARGEST ? Optional.of(this) : Optional.empty();
    }

    private Range with(Range other) {
      return new Range(Math.min(least, other.least), Math.max(most, other.most));
    }
  }

  static boolean isByte(TensorType type) {
    return type.element() == ElementType.U8;
  }

  /** Whether chips compute an integer value; others only the host knows, as {@link Indices}. */
  static boolean isComputed(Value value) {
    return isByte(value.type())
        || value.type().element() == ElementType.I32
            && !value.isInput()
            && value.definition().constant().isEmpty()
            && range(value).isPresent();
  }

  /** Whether all numbers that the elements of an integer value may be are exact in a format. */
  static boolean areExact(Value value, ElementType format) {
    long largest = format == ElementType.F32 ? LARGEST_OF_F32 : LARGEST + 1;
    return range(value).filter(range -> range.least >= 0 && range.most <= largest).isPresent();
  }

  /** The range of a value whose elements are integers; empty if they may be others. */
  static Optional<Range> range(Value value) {
    Optional<Range> range = value.isInput() ? Optional.empty() : range(value.definition());
    // Arithmetic of bytes that leaves their range would wrap.
    return isByte(value.type()) ? range.flatMap(Range::asCode) : range;
  }

  private static Optional<Range> range(Node node) {
    return switch (node.op()) {
      case Movement.Reshape reshape -> range(node.operand(0));
      case Movement.Slice slice -> range(node.operand(0));
      case Movement.Transpose transpose -> range(node.operand(0));
      case Movement.Gather gather -> range(node.operand(0));
      case Movement.Concat concat -> ofAll(node);
      case Movement.Pad pad -> ofAll(node);
      case Elementwise.Cast cast -> range(node.operand(0));
      case Communication.Exchange exchange when isByte(node.result().type()) ->
          Optional.of(new Range(0, LARGEST));
      case Contraction.NearestCentroid(long groups) ->
          Optional.of(new Range(0, node.operand(1).type().shape().extent(0) / groups - 1));
      case Elementwise.Unary(UnaryFunction function) when function == UnaryFunction.ROUND ->
          Optional.of(UNLIMITED);
      case Elementwise.Binary(BinaryFunction function) ->
          range(node.operand(0))
              .flatMap(left -> range(node.operand(1)).flatMap(right -> of(function, left, right)));
      default -> node.constant().flatMap(Codes::ofConstant);
    };
  }

  private static Optional<Range> ofAll(Node node) {
    Optional<Range> all = range(node.operand(0));
    for (Value operand : node.operands().subList(1, node.operands().size())) {
      Optional<Range> own = range(operand);
      all = all.flatMap(range -> own.map(range::with));
    }
    return all;
  }

  private static Optional<Range> ofConstant(Tensor data) {
    double[] elements = data.doubles();
    return Arrays.stream(elements).allMatch(x -> x == Math.rint(x) && Math.abs(x) < 1L << 40)
        ? Optional.of(
            new Range(
                (long) Arrays.stream(elements).min().orElse(0),
                (long) Arrays.stream(elements).max().orElse(0)))
        : Optional.empty();
  }

  private static Optional<Range> of(BinaryFunction function, Range left, Range right) {
    boolean isNatural = left.least >= 0 && right.least >= 0;
    return switch (function) {
      case ADD -> Optional.of(new Range(left.least + right.least, left.most + right.most));
      case SUB -> Optional.of(new Range(left.least - right.most, left.most - right.least));
      case MIN ->
          Optional.of(
              new Range(Math.min(left.least, right.least), Math.min(left.most, right.most)));
      case MAX ->
          Optional.of(
              new Range(Math.max(left.least, right.least), Math.max(left.most, right.most)));
      case BIT_AND ->
          Optional.of(new Range(0, Math.min(left.most, right.most))).filter(all -> isNatural);
      case BIT_OR -> Optional.of(new Range(0, left.most + right.most)).filter(all -> isNatural);
      case SHIFT_LEFT ->
          Optional.of(new Range(left.least << right.least, left.most << right.least))
              .filter(all -> isNatural && isShift(right));
      case SHIFT_RIGHT ->
          Optional.of(new Range(left.least >> right.least, left.most >> right.least))
              .filter(all -> isNatural && isShift(right));
      default -> Optional.empty();
    };
  }

  private static boolean isShift(Range range) {
    return range.least == range.most && range.most < Integer.SIZE;
  }

  /** The only element of a constant. */
  static Optional<Long> constant(Value value) {
    return value.isInput()
        ? Optional.empty()
        : value
            .definition()
            .constant()
            .filter(data -> data.size() == 1)
            .map(data -> data.getLong(0));
  }

  /** Whether no bit is set in both operands, so that their sum is the same. */
  static boolean areDisjoint(Node or) {
    return isAbove(or.operand(0), or.operand(1)) || isAbove(or.operand(1), or.operand(0));
  }

  private static boolean isAbove(Value high, Value low) {
    Value shifted = high;
    while (!shifted.isInput() && shifted.definition().op() instanceof Movement.Reshape) {
      shifted = shifted.definition().operand(0);
    }
    if (shifted.isInput()
        || !(shifted.definition().op() instanceof Elementwise.Binary(BinaryFunction function))
        || function != BinaryFunction.SHIFT_LEFT) {
      return false;
    }
    Optional<Long> bits = constant(shifted.definition().operand(1));
    return bits.isPresent()
        && range(low).filter(range -> range.most >> bits.get() == 0).isPresent();
  }
}
