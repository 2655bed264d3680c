package io.partita.backend.metalium;

import io.partita.backend.metalium.Step.Epilogue;
import io.partita.backend.metalium.Step.Matrix;
import io.partita.ir.function.BinaryFunction;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;

/** Finds the epilogues of steps: functions of elements that the vector engine computes in turn. */
final class Epilogues {
  /** Rounds to the nearest integer. */
  static final Epilogue ROUNDING = Epilogue.of(VectorFunctions.ROUND_TO_INTEGER);

  private final Matrices matrices;
  private final Operands operands;
  private final Function<Node, Step> steps;

  /**
   * @param steps returns a step of its own for a node whose result is needed twice
   */
  Epilogues(Matrices matrices, Operands operands, Function<Node, Step> steps) {
    this.matrices = matrices;
    this.operands = operands;
    this.steps = steps;
  }

  /** The operand whose computation comes before, so that the other one is read from DRAM. */
  int chain(Node node) {
    for (int other = 0; other < 2; other++) {
      if (!isSame(node.operand(other), node.result()) || matrices.isHosted(node.operand(other))) {
        return 1 - other;
      }
    }
    int chain = operands.of(node.operand(0)).isEmpty() ? 0 : 1;
    return operands.of(node.operand(1)).isEmpty() ? 1 : chain;
  }

  /** Whether an operand is a constant whose elements all count several times. */
  private static boolean isRepeated(Node node, int operand) {
    Value value = node.operand(operand);
    return !isSame(value, node.result()) && Matrices.constant(value).isPresent();
  }

  /** Whether an operand is one constant number, and the result isn't. */
  private static boolean isScalar(Node node, int operand) {
    return isRepeated(node, operand) && node.operand(operand).type().shape().elements() == 1;
  }

  private static long columns(Node node) {
    return Matrices.columns(node.result().type());
  }

  /**
   * A function of two numbers.
   *
   * @param chain the operand whose computation comes before
   */
  Epilogue binary(BinaryFunction function, Node node, int chain) {
    BinaryFunction computed = arithmetic(function, node);
    int other = 1 - chain;
    boolean isRow =
        isScalar(node, other)
            || isRow(node, other) && Matrices.constant(node.operand(other)).isPresent();
    Optional<Matrix> operand =
        isSame(node.operand(chain), node.result()) ? other(node, other, isRow) : Optional.empty();
    return new Epilogue(
        VectorFunctions.BINARY.get(computed),
        Optional.of(operand.orElseThrow(() -> ModelSteps.unsupported(node))),
        isRow,
        chain == 1 && !VectorFunctions.COMMUTATIVE.contains(computed));
  }

  /** The operand that is read from DRAM, with the elements of the result, or with one row. */
  private Optional<Matrix> other(Node node, int operand, boolean isRow) {
    Value value = node.operand(operand);
    TensorType type = node.result().type();
    if (isSame(value, node.result())) {
      boolean fits = Matrices.columns(value.type()) == columns(node);
      return fits ? operands.of(value) : Optional.empty();
    }
    if (isScalar(node, operand)) {
      return number(value).map(number -> matrices.scalar(number, columns(node)));
    }
    if (isRow) {
      return matrices.row(value);
    }
    if (isRepeated(node, operand)) {
      return Optional.of(matrices.repeated(value, type));
    }
    return matrices.isHosted(value)
        ? Optional.of(matrices.hosted(value, type.shape()))
        : operands.broadcast(node, operand);
  }

  /** Elements that constant flags choose instead of zeros: products with ones and zeros. */
  Epilogue selection(Node node) {
    if (!isRepeated(node, 0)
        || !Matrices.isZero(node.operand(2))
        || !isSame(node.operand(1), node.result())) {
      throw ModelSteps.unsupported(node);
    }
    Matrix flags = matrices.repeated(node.operand(0), node.result().type());
    return Epilogue.of(BinaryFunction.MUL, flags, false);
  }

  /**
   * Elements that flags of the host choose instead of one number: {@code x f + c (1 - f)}.
   *
   * @param chain the operand of these elements
   */
  List<Epilogue> selection(Node node, int chain) {
    Value flags = node.operand(0);
    double number = number(node.operand(3 - chain)).orElseThrow(() -> ModelSteps.unsupported(node));
    Shape shape = node.result().type().shape();
    if (!isSame(node.operand(chain), node.result())) {
      throw ModelSteps.unsupported(node);
    }
    List<Epilogue> all = new ArrayList<>();
    Matrix kept = matrices.chosen(flags, chain == 1, 1, shape);
    all.add(Epilogue.of(BinaryFunction.MUL, kept, false));
    if (number != 0) {
      Matrix others = matrices.chosen(flags, chain != 1, number, shape);
      all.add(Epilogue.of(BinaryFunction.ADD, others, false));
    }
    return all;
  }

  /** The only number of a constant, if it has one. */
  static Optional<Double> number(Value value) {
    return Matrices.constant(value).filter(data -> data.size() == 1).map(data -> data.getDouble(0));
  }

  /** Of codes that have no bit in common, the bitwise sum is the sum. */
  private static BinaryFunction arithmetic(BinaryFunction function, Node node) {
    if (function != BinaryFunction.BIT_OR) {
      return function;
    }
    if (!Codes.areDisjoint(node)) {
      throw ModelSteps.unsupported(node);
    }
    return BinaryFunction.ADD;
  }

  private Epilogue scalar(BinaryFunction function, double number, long columns) {
    return Epilogue.of(function, matrices.scalar(number, columns), true);
  }

  /** The largest integer up to {@code x / 2^bits}, of codes. */
  private List<Epilogue> quotient(long bits, long columns) {
    double unit = Math.scalb(1.0, Math.toIntExact(-bits));
    List<Epilogue> all = new ArrayList<>();
    all.add(scalar(BinaryFunction.MUL, unit, columns));
    // The remainder becomes less than a half on both sides.
    all.add(scalar(BinaryFunction.SUB, (1 - unit) / 2, columns));
    all.add(ROUNDING);
    return all;
  }

  /** Functions of bits of codes, by arithmetic that is exact. */
  List<Epilogue> bits(BinaryFunction function, Node node) {
    Value x = node.operand(0);
    long number = Codes.constant(node.operand(1)).orElseThrow(() -> ModelSteps.unsupported(node));
    if (Codes.range(node.result()).isEmpty() || !isSame(x, node.result())) {
      throw ModelSteps.unsupported(node);
    }
    return switch (function) {
      case SHIFT_RIGHT -> quotient(number, columns(node));
      case SHIFT_LEFT ->
          List.of(scalar(BinaryFunction.MUL, Math.scalb(1.0, (int) number), columns(node)));
      default -> remainder(node, number);
    };
  }

  /** The lowest bits of a code: what the multiple of a power of two leaves. */
  private List<Epilogue> remainder(Node node, long mask) {
    Value x = node.operand(0);
    if (Long.bitCount(mask + 1) != 1) {
      throw ModelSteps.unsupported(node);
    }
    if (Codes.range(x).orElseThrow().most() <= mask) {
      return List.of();
    }
    List<Epilogue> all = new ArrayList<>(quotient(Long.bitCount(mask), columns(node)));
    all.add(scalar(BinaryFunction.MUL, -(mask + 1), columns(node)));
    // The number is read twice, so a step of its own computes it.
    if (operands.of(x).isEmpty()) {
      operands.add(x.definition(), steps.apply(x.definition()));
    }
    all.add(Epilogue.of(BinaryFunction.ADD, operands.required(node, 0), false));
    return all;
  }

  /** Whether a value has as many elements as a result, so that it isn't broadcast. */
  static boolean isSame(Value value, Value result) {
    return value.type().shape().elements() == result.type().shape().elements();
  }

  /** Whether an operand is a vector that broadcasts over several rows. */
  private static boolean isRow(Node node, int operand) {
    Value value = node.operand(operand);
    return !isSame(value, node.result())
        && value.type().shape().elements() == Matrices.columns(node.result().type());
  }

  /** After functions that make other numbers of zeros, a product with zeros makes zeros again. */
  static void requirePadding(Node last, Iterable<Epilogue> epilogues) {
    boolean isZero = true;
    boolean isFinite = true;
    for (Epilogue epilogue : epilogues) {
      String function = epilogue.function();
      isFinite &= VectorFunctions.FINITE.contains(function);
      isZero =
          isFinite && epilogue.operand().isPresent() && function.equals("mul_binary")
              || isZero && VectorFunctions.ZERO_AT_ZERO.contains(function);
    }
    if (!isZero) {
      Matrices.requireWholeTiles(last.result());
    }
  }
}
