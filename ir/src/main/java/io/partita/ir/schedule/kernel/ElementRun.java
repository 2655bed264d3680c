package io.partita.ir.schedule.kernel;

import io.partita.ir.schedule.kernel.Argument.Value;
import io.partita.ir.type.ElementType;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.stream.IntStream;

/**
 * Consecutive calls of a loop that one pass over the elements of a tile can compute: each call uses
 * what the previous one computed at the same position, so that values in between aren't needed in
 * memory. Elements are integers of 8 or 32 bits, which may be converted to f32. The first call may
 * be a product of a few multiplications.
 *
 * @param first the number of the first call in the loop
 * @param calls the number of calls
 * @param source where the first values come from
 * @param steps the functions of the values, in order
 * @param count the number of elements
 * @param out the place of the results, contiguous
 */
public record ElementRun(
    int first, int calls, Source source, List<Step> steps, TileExpression count, Value out) {
  /** The name of the figures of runs in a target, among those of kernels. */
  public static final String FIGURES = "element_run";

  /** Beyond these multiplications, the kernel of a product is faster, although it is longer. */
  private static final long MOST_PRODUCTS = 2048;

  /** Beyond these elements, a copy by words is faster. */
  private static final long MOST_COPIED = 256;

  private static final Set<ElementType> INTEGERS =
      EnumSet.of(ElementType.I8, ElementType.U8, ElementType.I32);
  private static final Set<String> BINARY = Set.of("add", "sub", "mul", "min", "max");

  /** The functions of floats that are one instruction; minimum and maximum give NaN for NaN. */
  private static final Set<String> BINARY_OF_FLOATS = Set.of("add", "sub", "mul");

  private static final TileExpression ZERO = TileExpression.of(0);
  private static final TileExpression ONE = TileExpression.of(1);

  public ElementRun {
    steps = List.copyOf(steps);
  }

  /** Where the first values come from. */
  public sealed interface Source {
    /** The type of the values. */
    ElementType element();
  }

  /** Values in the working memory, contiguous. */
  public record Stored(ElementType element, Value at) implements Source {}

  /**
   * A product of matrices {@code [batch, m, k]} and {@code [batch, k, n]}, in i32.
   *
   * @param left the type of the left elements; {@code right} is that of the others
   */
  public record Product(
      ElementType left,
      ElementType right,
      Value leftAt,
      Value rightAt,
      long batch,
      long m,
      long n,
      long k,
      Strides leftStrides,
      Strides rightStrides)
      implements Source {
    @Override
    public ElementType element() {
      return ElementType.I32;
    }

    public long multiplications() {
      return batch * m * n * k;
    }
  }

  /** The steps of a matrix in elements; a column is a step along a row. */
  public record Strides(long batch, long row, long column) {}

  /** What a step computes. */
  public enum Function {
    ADD,
    SUB,
    MUL,
    MIN,
    MAX,
    CAST,
    REQUANTIZE
  }

  /**
   * A function of the values.
   *
   * @param operands the other operands: of a requantization, multiplier and addend
   * @param valuesFirst whether the values are the left operand
   * @param call the kernel that computes the same, with its attributes
   */
  public record Step(
      Function function,
      ElementType from,
      ElementType to,
      List<Operand> operands,
      boolean valuesFirst,
      KernelCall call) {
    public Step {
      operands = List.copyOf(operands);
    }

    /** Returns an integer among the attributes of the kernel. */
    public long attribute(String field) {
      return literal(call.arguments(), field).orElse(0L);
    }
  }

  /**
   * An operand of a step.
   *
   * @param period the number of elements, which are used over and over: 1 for a scalar; empty for
   *     as many as there are values
   * @param isValues whether it is the values themselves
   */
  public record Operand(
      ElementType element, Value pointer, Optional<Long> period, boolean isValues) {}

  /** Returns the number of the call after the last one. */
  public int end() {
    return first + calls;
  }

  /** Whether it computes with floats. */
  public boolean hasFloats() {
    return source.element().isFloat() || steps.stream().anyMatch(step -> step.to.isFloat());
  }

  /**
   * Returns the longest runs of the calls of a loop, in order. A call that can't be in a run is in
   * none.
   */
  public static List<ElementRun> of(List<KernelCall> calls) {
    List<ElementRun> runs = new ArrayList<>();
    for (int i = 0; i < calls.size(); ) {
      Optional<ElementRun> run = from(calls, i);
      run.ifPresent(runs::add);
      i = run.map(ElementRun::end).orElse(i + 1);
    }
    return runs;
  }

  private static Optional<ElementRun> from(List<KernelCall> calls, int first) {
    Optional<Call> start = Call.first(calls.get(first));
    if (start.isEmpty()) {
      return Optional.empty();
    }
    List<Step> steps = new ArrayList<>(start.get().steps);
    Call last = start.get();
    int next = first + 1;
    while (next < calls.size()) {
      Optional<Call> call = Call.after(calls.get(next), last.out);
      if (call.isEmpty() || !follows(calls, first, next, last, call.get())) {
        break;
      }
      last = call.get();
      steps.addAll(last.steps);
      next++;
    }
    ElementRun run =
        new ElementRun(first, next - first, start.get().source, steps, start.get().count, last.out);
    // Alone, kernels of floats are faster, as they compute several elements together.
    return Optional.of(run).filter(each -> each.calls > 1 || !each.hasFloats());
  }

  /**
   * Whether a call can be in the run that began with {@code first}: nothing else uses the values
   * that it reads, and it reads nothing else that the run has written.
   */
  private static boolean follows(
      List<KernelCall> calls, int first, int next, Call before, Call call) {
    boolean isOverwritten = before.out.equals(call.out);
    boolean isTemporary =
        before.out instanceof Value.ScratchPointer(int scratch, TileExpression offset)
            && IntStream.range(0, calls.size())
                .filter(each -> each < first || each > next)
                .noneMatch(each -> uses(calls.get(each).arguments(), scratch));
    boolean isIndependent =
        call.steps.stream()
            .flatMap(step -> step.operands.stream())
            .filter(operand -> !operand.isValues)
            .allMatch(
                operand ->
                    calls.subList(first, next).stream()
                        .noneMatch(each -> isSamePlace(out(each), operand.pointer)));
    return before.count.equals(call.count)
        && calls.get(first).onLast().equals(calls.get(next).onLast())
        && (isOverwritten || isTemporary)
        && isIndependent;
  }

  private static Value out(KernelCall call) {
    return CallFields.find(call.arguments(), "out")
        .or(() -> CallFields.find(call.arguments(), "gemm.out"))
        .orElse(new Value.Null());
  }

  private static boolean isSamePlace(Value one, Value other) {
    return one instanceof Value.OperandPointer(int own, var at)
            && other instanceof Value.OperandPointer(int second, var from)
            && own == second
        || one instanceof Value.ScratchPointer(int left, var to)
            && other instanceof Value.ScratchPointer(int right, var start)
            && left == right;
  }

  private static boolean uses(List<Argument> arguments, int scratch) {
    return arguments.stream()
        .flatMap(Argument::pointers)
        .anyMatch(pointer -> pointer instanceof Value.ScratchPointer(int own, _) && own == scratch);
  }

  private static Optional<Long> literal(List<Argument> arguments, String field) {
    Optional<Value> value = CallFields.find(arguments, field);
    if (value.isEmpty()) {
      return Optional.of(0L);
    }
    return value.get() instanceof Value.Integer(TileExpression.Literal(long number))
        ? Optional.of(number)
        : Optional.empty();
  }

  /** A call as a part of a run. */
  private record Call(Source source, List<Step> steps, TileExpression count, Value out) {
    /** Returns the first call of a run. */
    static Optional<Call> first(KernelCall call) {
      return switch (call.kernel().family()) {
        case "gemm", "gemv" -> product(call, "");
        case "gemm_requantize", "gemv_requantize" -> product(call, "gemm.");
        case "copy" -> copy(call);
        default -> of(call, Optional.empty());
      };
    }

    /** Returns a call that follows another one, whose results are at {@code before}. */
    static Optional<Call> after(KernelCall call, Value before) {
      return of(call, Optional.of(before));
    }

    private static Optional<Call> of(KernelCall call, Optional<Value> before) {
      List<ElementType> types = call.kernel().elements();
      String family = call.kernel().family();
      boolean areIntegers = INTEGERS.containsAll(types);
      boolean areFloats = types.stream().allMatch(ElementType.F32::equals);
      return switch (family) {
        case "requantize" -> areIntegers ? requantize(call, before) : Optional.empty();
        case "cast" ->
            INTEGERS.contains(types.getFirst())
                    && (areIntegers || types.getLast() == ElementType.F32)
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
    private static Optional<Call> product(KernelCall call, String within) {
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
        literal(all, within + field).ifPresent(numbers::add);
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
              && product.multiplications() <= MOST_PRODUCTS;
      if (!isPlain) {
        return Optional.empty();
      }
      List<Step> steps = new ArrayList<>();
      if (!within.isEmpty()) {
        List<Operand> operands = new ArrayList<>();
        for (String field : List.of("multiplier", "addend")) {
          boolean isOne =
              literal(all, field + "_row").equals(Optional.of(0L))
                  && literal(all, field + "_column").equals(Optional.of(0L));
          if (!isOne) {
            return Optional.empty();
          }
          operands.add(scalar(ElementType.I32, pointer(call, field)));
        }
        steps.add(
            new Step(Function.REQUANTIZE, ElementType.I32, types.get(2), operands, true, call));
      }
      return Optional.of(
          new Call(
              product, steps, TileExpression.of(batch * m * n), pointer(call, within + "out")));
    }

    /** A copy of contiguous elements. */
    private static Optional<Call> copy(KernelCall call) {
      List<TileExpression> extents = axes(call, "extents");
      List<ElementType> types = call.kernel().elements();
      boolean isContiguous =
          INTEGERS.containsAll(types)
              && product(extents) instanceof TileExpression.Literal(long count)
              && count <= MOST_COPIED
              && isWhole(period(extents, axes(call, "x_strides")))
              && isWhole(period(extents, axes(call, "out_strides")));
      return isContiguous
          ? Optional.of(
              new Call(
                  new Stored(types.getFirst(), pointer(call, "x")),
                  List.of(),
                  product(extents),
                  pointer(call, "out")))
          : Optional.empty();
    }

    private static Optional<Call> cast(KernelCall call, Optional<Value> before) {
      Value x = pointer(call, "x");
      List<ElementType> types = call.kernel().elements();
      Step step = new Step(Function.CAST, types.getFirst(), types.getLast(), List.of(), true, call);
      return CallFields.find(call.arguments(), "count").orElseThrow()
              instanceof Value.Integer(var count)
          ? call(x, step, count, call, before)
          : Optional.empty();
    }

    private static Optional<Call> requantize(KernelCall call, Optional<Value> before) {
      if (Epilogue.small(call.arguments(), "shift", "low", "high").isEmpty()) {
        return Optional.empty();
      }
      List<TileExpression> extents = axes(call, "extents");
      List<Operand> operands = new ArrayList<>();
      for (String field : List.of("multiplier", "addend")) {
        Optional<Optional<Long>> period = period(extents, axes(call, field + "_strides"));
        boolean isOne = product(extents).equals(ONE) || period.equals(Optional.of(Optional.of(1L)));
        if (!isOne) {
          return Optional.empty();
        }
        operands.add(scalar(ElementType.I32, pointer(call, field)));
      }
      List<ElementType> types = call.kernel().elements();
      Step step =
          new Step(Function.REQUANTIZE, types.getFirst(), types.getLast(), operands, true, call);
      return call(pointer(call, "x"), step, product(extents), call, before);
    }

    private static Optional<Call> call(
        Value x, Step step, TileExpression count, KernelCall call, Optional<Value> before) {
      return Optional.of(
              new Call(new Stored(step.from(), x), List.of(step), count, pointer(call, "out")))
          .filter(own -> before.isEmpty() || before.get().equals(x));
    }

    private static Optional<Call> binary(KernelCall call, Optional<Value> before) {
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
     * Returns the period of an operand: the inner one if it has as many contiguous elements as
     * there are; the outer one if it has neither these nor a known number that it begins again
     * after.
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
}
