package io.partita.ir.schedule.kernel;

import io.partita.ir.schedule.kernel.Argument.Value;
import io.partita.ir.schedule.kernel.ElementRun.Function;
import io.partita.ir.schedule.kernel.ElementRun.Operand;
import io.partita.ir.schedule.kernel.ElementRun.Product;
import io.partita.ir.schedule.kernel.ElementRun.Source;
import io.partita.ir.schedule.kernel.ElementRun.Step;
import io.partita.ir.schedule.kernel.ElementRun.Stored;
import io.partita.ir.schedule.kernel.ElementRun.Strides;
import io.partita.ir.type.ElementType;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;

/**
 * A call as a part of an {@link ElementRun}.
 *
 * @param source the values that it reads, if it is the first call
 * @param steps its functions
 * @param count the number of elements
 * @param out the place of its results
 */
record ElementCall(Source source, List<Step> steps, TileExpression count, Value out) {
  /** Beyond these multiplications, the kernel of a product is faster, although it is longer. */
  private static final long MOST_PRODUCTS = 2048;

  /** A sum of few terms is faster without it even then, if the left matrix is a row. */
  private static final long FEW_TERMS = 8;

  /** Beyond these bytes or words, the kernel of a copy is faster, although it is longer. */
  private static final long MOST_BYTES = 256;

  private static final long MOST_WORDS = 2048;

  private static final Set<ElementType> INTEGERS =
      EnumSet.of(ElementType.I8, ElementType.U8, ElementType.I32);
  private static final Set<String> BINARY = Set.of("add", "sub", "mul", "min", "max");

  /** The functions of floats that are one instruction; minimum and maximum give NaN for NaN. */
  private static final Set<String> BINARY_OF_FLOATS = Set.of("add", "sub", "mul");

  private static final TileExpression ZERO = TileExpression.of(0);
  private static final TileExpression ONE = TileExpression.of(1);

  /** Returns the first call of a run. */
  static Optional<ElementCall> first(KernelCall call) {
    return switch (call.kernel().family()) {
      case "gemm", "gemv" -> product(call, "");
      case "gemm_requantize", "gemv_requantize" -> product(call, "gemm.");
      case "copy" -> copy(call);
      default -> of(call, Optional.empty());
    };
  }

  /** Returns a call that follows another one, whose results are at {@code before}. */
  static Optional<ElementCall> after(KernelCall call, Value before) {
    return of(call, Optional.of(before));
  }

  private static Optional<ElementCall> of(KernelCall call, Optional<Value> before) {
    List<ElementType> types = call.kernel().elements();
    String family = call.kernel().family();
    boolean areIntegers = INTEGERS.containsAll(types);
    boolean areFloats = types.stream().allMatch(ElementType.F32::equals);
    return switch (family) {
      case "quantize" ->
          types.getFirst() == ElementType.F32 && types.get(1).isByte()
              ? quantize(call, before)
              : Optional.empty();
      case "requantize" -> areIntegers ? requantize(call, before) : Optional.empty();
      case "lookup" -> lookup(call, before);
      case "cast" ->
          INTEGERS.contains(types.getFirst()) && (areIntegers || types.getLast() == ElementType.F32)
              ? cast(call, before)
              : Optional.empty();
      default -> {
        boolean isOfIntegers = areIntegers && types.stream().distinct().count() == 1;
        yield isOfIntegers && BINARY.contains(family)
                || areFloats && BINARY_OF_FLOATS.contains(family)
            ? binary(call, before)
            : Optional.empty();
      }
    };
  }

  /**
   * A product with contiguous results, each of which has its own sums.
   *
   * @param within the prefix of the fields of the product
   */
  private static Optional<ElementCall> product(KernelCall call, String within) {
    List<Argument> all = call.arguments();
    List<Long> numbers = new ArrayList<>();
    for (String field :
        List.of(
            "batch",
            "group",
            "m",
            "n",
            "k",
            "accumulate",
            "out_batch",
            "out_row",
            "left_batch",
            "left_row",
            "left_column",
            "right_batch",
            "right_row",
            "right_column")) {
      ElementRun.literal(all, within + field).ifPresent(numbers::add);
    }
    List<ElementType> types = call.kernel().elements();
    boolean isKnown = numbers.size() == 14 && INTEGERS.containsAll(types);
    boolean hasBias =
        CallFields.find(all, within + "bias")
            .filter(each -> !(each instanceof Value.Null))
            .isPresent();
    if (!isKnown || hasBias || types.get(0).bits() > 8 || types.get(1).bits() > 8) {
      return Optional.empty();
    }
    long batch = numbers.get(0);
    long m = numbers.get(2);
    long n = numbers.get(3);
    Product product =
        new Product(
            types.get(0),
            types.get(1),
            pointer(call, within + "left"),
            pointer(call, within + "right"),
            batch,
            m,
            n,
            numbers.get(4),
            new Strides(numbers.get(8), numbers.get(9), numbers.get(10)),
            new Strides(numbers.get(11), numbers.get(12), numbers.get(13)));
    boolean isPlain =
        (numbers.get(1) == 1 || batch == 1)
            && numbers.get(5) == 0
            && (batch == 1 || numbers.get(6) == m * n)
            && (m == 1 || numbers.get(7) == n)
            && product.k() > 0
            && (product.multiplications() <= MOST_PRODUCTS || m == 1 && product.k() <= FEW_TERMS);
    if (!isPlain) {
      return Optional.empty();
    }
    List<Step> steps = new ArrayList<>();
    if (!within.isEmpty()) {
      List<Operand> operands = new ArrayList<>();
      for (String field : List.of("multiplier", "addend")) {
        boolean isOne =
            ElementRun.literal(all, field + "_row").equals(Optional.of(0L))
                && ElementRun.literal(all, field + "_column").equals(Optional.of(0L));
        if (!isOne) {
          return Optional.empty();
        }
        operands.add(scalar(ElementType.I32, pointer(call, field)));
      }
      steps.add(new Step(Function.REQUANTIZE, ElementType.I32, types.get(2), operands, true, call));
    }
    return Optional.of(
        new ElementCall(
            product, steps, TileExpression.of(batch * m * n), pointer(call, within + "out")));
  }

  /** A copy of contiguous elements. */
  private static Optional<ElementCall> copy(KernelCall call) {
    List<TileExpression> extents = axes(call, "extents");
    List<ElementType> types = call.kernel().elements();
    boolean isContiguous =
        INTEGERS.containsAll(types)
            && product(extents) instanceof TileExpression.Literal(long count)
            && count <= (types.getFirst().bits() == Integer.SIZE ? MOST_WORDS : MOST_BYTES)
            && isWhole(period(extents, axes(call, "x_strides")))
            && isWhole(period(extents, axes(call, "out_strides")));
    return isContiguous
        ? Optional.of(
            new ElementCall(
                new Stored(types.getFirst(), pointer(call, "x")),
                List.of(),
                product(extents),
                pointer(call, "out")))
        : Optional.empty();
  }

  private static Optional<ElementCall> cast(KernelCall call, Optional<Value> before) {
    return counted(call, Function.CAST, List.of(), before);
  }

  private static Optional<ElementCall> lookup(KernelCall call, Optional<Value> before) {
    Operand table =
        new Operand(
            call.kernel().elements().getLast(), pointer(call, "table"), Optional.empty(), false);
    return counted(call, Function.LOOKUP, List.of(table), before);
  }

  /** A function of a number of contiguous elements. */
  private static Optional<ElementCall> counted(
      KernelCall call, Function function, List<Operand> operands, Optional<Value> before) {
    Value x = pointer(call, "x");
    List<ElementType> types = call.kernel().elements();
    Step step = new Step(function, types.getFirst(), types.getLast(), operands, true, call);
    return CallFields.find(call.arguments(), "count").orElseThrow()
            instanceof Value.Integer(var count)
        ? call(x, step, count, call, before)
        : Optional.empty();
  }

  private static Optional<ElementCall> requantize(KernelCall call, Optional<Value> before) {
    if (Epilogue.small(call.arguments(), "shift", "low", "high").isEmpty()
        || !isOne(call, "multiplier_strides")
        || !isOne(call, "addend_strides")) {
      return Optional.empty();
    }
    List<ElementType> types = call.kernel().elements();
    List<Operand> operands =
        List.of(
            scalar(ElementType.I32, pointer(call, "multiplier")),
            scalar(ElementType.I32, pointer(call, "addend")));
    Step step =
        new Step(Function.REQUANTIZE, types.getFirst(), types.getLast(), operands, true, call);
    return call(pointer(call, "x"), step, product(axes(call, "extents")), call, before);
  }

  private static Optional<ElementCall> quantize(KernelCall call, Optional<Value> before) {
    if (!isOne(call, "parameter_strides")) {
      return Optional.empty();
    }
    ElementType to = call.kernel().elements().get(1);
    List<Operand> operands =
        List.of(scalar(ElementType.F32, pointer(call, "scale")), scalar(to, pointer(call, "zero")));
    Step step = new Step(Function.QUANTIZE, ElementType.F32, to, operands, true, call);
    return call(pointer(call, "x"), step, product(axes(call, "extents")), call, before);
  }

  /** Whether all elements have the same element of an operand. */
  private static boolean isOne(KernelCall call, String strides) {
    List<TileExpression> extents = axes(call, "extents");
    return product(extents).equals(ONE)
        || period(extents, axes(call, strides)).equals(Optional.of(Optional.of(1L)));
  }

  private static Optional<ElementCall> call(
      Value x, Step step, TileExpression count, KernelCall call, Optional<Value> before) {
    return Optional.of(
            new ElementCall(new Stored(step.from(), x), List.of(step), count, pointer(call, "out")))
        .filter(own -> before.isEmpty() || before.get().equals(x));
  }

  private static Optional<ElementCall> binary(KernelCall call, Optional<Value> before) {
    List<TileExpression> extents = axes(call, "extents");
    Optional<Optional<Long>> left = period(extents, axes(call, "left_strides"));
    Optional<Optional<Long>> right = period(extents, axes(call, "right_strides"));
    boolean isLeft = isValues(call, "left", left, before);
    if (left.isEmpty() || right.isEmpty() || !isLeft && !isValues(call, "right", right, before)) {
      return Optional.empty();
    }
    Value values = pointer(call, isLeft ? "left" : "right");
    Value other = pointer(call, isLeft ? "right" : "left");
    Optional<Long> period = (isLeft ? right : left).get();
    boolean isSame = other.equals(values);
    if (isSame && period.isPresent()) {
      return Optional.empty();
    }
    ElementType element = call.kernel().elements().getFirst();
    Function function = Function.valueOf(call.kernel().family().toUpperCase(Locale.ROOT));
    Operand operand = new Operand(element, other, period, isSame);
    Step step = new Step(function, element, element, List.of(operand), isLeft, call);
    return call(values, step, product(extents), call, before);
  }

  private static boolean isValues(
      KernelCall call, String field, Optional<Optional<Long>> period, Optional<Value> before) {
    return isWhole(period) && (before.isEmpty() || before.get().equals(pointer(call, field)));
  }

  private static boolean isWhole(Optional<Optional<Long>> period) {
    return period.isPresent() && period.get().isEmpty();
  }

  private static Operand scalar(ElementType element, Value pointer) {
    return new Operand(element, pointer, Optional.of(1L), false);
  }

  /**
   * Returns the period of an operand: the inner one if it has as many contiguous elements as there
   * are; the outer one if it has neither these nor a known number that it begins again after.
   */
  private static Optional<Optional<Long>> period(
      List<TileExpression> extents, List<TileExpression> strides) {
    TileExpression inner = ONE;
    Optional<TileExpression> repeated = Optional.empty();
    for (int i = extents.size() - 1; i >= 0; i--) {
      if (extents.get(i).equals(ONE)) {
        continue;
      }
      boolean isContiguous = repeated.isEmpty() && strides.get(i).equals(inner);
      if (!isContiguous && !strides.get(i).equals(ZERO)) {
        return Optional.empty();
      }
      if (!isContiguous && repeated.isEmpty()) {
        repeated = Optional.of(inner);
      }
      inner = inner.times(extents.get(i));
    }
    if (repeated.isEmpty()) {
      return Optional.of(Optional.empty());
    }
    return repeated.get() instanceof TileExpression.Literal(long period)
        ? Optional.of(Optional.of(period))
        : Optional.empty();
  }

  private static TileExpression product(List<TileExpression> extents) {
    return extents.stream().reduce(ONE, TileExpression::times);
  }

  private static Value pointer(KernelCall call, String field) {
    return CallFields.find(call.arguments(), field).orElse(new Value.Null());
  }

  private static List<TileExpression> axes(KernelCall call, String field) {
    return CallFields.find(call.arguments(), field).orElseThrow()
            instanceof Value.Integers(var values)
        ? values
        : List.of();
  }
}
