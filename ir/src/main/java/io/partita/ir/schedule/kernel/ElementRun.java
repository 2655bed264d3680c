package io.partita.ir.schedule.kernel;

import io.partita.ir.schedule.kernel.Argument.Value;
import io.partita.ir.type.ElementType;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.IntStream;

/**
 * Consecutive calls of a loop that one pass over the elements of a tile can compute: each call uses
 * what the previous one computed at the same position, so that values in between aren't needed in
 * memory. Elements are integers of 8 or 32 bits, which may be converted to f32 and, at the end,
 * back to bytes. The first call may be a product of a few multiplications.
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
  private static final String SINGLE_FIGURES = "element_run";

  private static final String GROUPED_FIGURES = "element_run_grouped";

  /** The names of the figures of runs in a target, among those of kernels. */
  public static final Set<String> FIGURES = Set.of(SINGLE_FIGURES, GROUPED_FIGURES);

  public ElementRun {
    steps = List.copyOf(steps);
  }

  /** Where the first values come from. */
  public sealed interface Source {
    /** The type of the values. */
    ElementType element();
  }

  /** For fewer elements, a kernel of the runtime takes longer to be fetched than it gains. */
  private static final long MANY = 1024;

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

    /** Whether rows of left and columns of right consist of whole words of bytes. */
    public boolean isOfWords() {
      return leftStrides.column == 1 && rightStrides.row == 1 && k % Integer.BYTES == 0;
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
    REQUANTIZE,
    LOOKUP,
    QUANTIZE
  }

  /**
   * A function of the values.
   *
   * @param operands the other operands: of a requantization, multiplier and addend; of a lookup,
   *     the table; of a quantization, scale and zero
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
   *     as many as there are values, and for a table
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
   * Whether several elements are computed together, so that none waits for a result of floats:
   * stored values without requantizations, which take scales of their own.
   */
  public boolean isGrouped() {
    return hasFloats() && canBeGrouped(source, steps);
  }

  /** Returns the name of its figures, one of {@link #FIGURES}. */
  public String figures() {
    return isGrouped() ? GROUPED_FIGURES : SINGLE_FIGURES;
  }

  private static boolean canBeGrouped(Source source, List<Step> steps) {
    return source instanceof Stored
        && steps.stream().noneMatch(step -> step.function == Function.REQUANTIZE);
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

  /** Returns a call as a step, if it gives all values at a place their bytes by one scale. */
  public static Optional<Step> quantization(KernelCall call, Value values) {
    return ElementCall.after(call, values)
        .map(each -> each.steps().getLast())
        .filter(step -> step.function == Function.QUANTIZE);
  }

  private static Optional<ElementRun> from(List<KernelCall> calls, int first) {
    Optional<ElementCall> start = ElementCall.first(calls.get(first));
    if (start.isEmpty()) {
      return Optional.empty();
    }
    List<Step> steps = new ArrayList<>(start.get().steps());
    ElementCall last = start.get();
    List<Value> between = new ArrayList<>();
    int next = first + 1;
    ElementRun run = run(first, next, start.get(), steps, last);
    while (next < calls.size()) {
      Optional<ElementCall> call = ElementCall.after(calls.get(next), last.out());
      if (call.isEmpty()
          || !follows(calls, first, next, last, call.get())
          || !canFollow(start.get().source(), steps, call.get())) {
        break;
      }
      boolean isOverwritten = last.out().equals(call.get().out());
      if (!isOverwritten && !isTemporary(calls, first, next, last.out())) {
        between.add(last.out());
      }
      last = call.get();
      steps.addAll(last.steps());
      next++;
      if (between.stream().allMatch(last.out()::equals)) {
        run = run(first, next, start.get(), steps, last);
      }
    }
    return Optional.of(run).filter(each -> each.calls > 1 || !each.isFasterAlone());
  }

  private static ElementRun run(
      int first, int next, ElementCall start, List<Step> steps, ElementCall last) {
    return new ElementRun(first, next - first, start.source(), steps, start.count(), last.out());
  }

  /** Whether kernels of the runtime take less time than the loop of a run. */
  private boolean isFasterAlone() {
    return hasFloats()
        || steps.stream().anyMatch(step -> step.function == Function.LOOKUP)
        || !steps.isEmpty() && steps.stream().allMatch(this::isFasterAlone);
  }

  /**
   * Kernels of conversions compute several elements together, and others have hardware loops, which
   * are worth it where tiles are known to have many stored elements.
   */
  private boolean isFasterAlone(Step step) {
    Optional<Long> number =
        count instanceof TileExpression.Literal(long known) ? Optional.of(known) : Optional.empty();
    boolean isLong = source instanceof Stored && number.isPresent() && number.get() >= MANY;
    return switch (step.function) {
      case CAST -> number.isEmpty() || number.get() >= MANY;
      case ADD, SUB, MUL ->
          isLong
              && step.to == ElementType.I32
              && step.operands.stream().allMatch(operand -> operand.period.isEmpty());
      case REQUANTIZE -> isLong;
      case MIN, MAX, LOOKUP, QUANTIZE -> false;
    };
  }

  /** A quantization is the last step of a run that is computed in groups. */
  private static boolean canFollow(Source source, List<Step> steps, ElementCall call) {
    boolean quantizes = call.steps().getLast().function == Function.QUANTIZE;
    return (steps.isEmpty() || steps.getLast().function != Function.QUANTIZE)
        && (!quantizes || canBeGrouped(source, steps));
  }

  /**
   * Whether a call can be in the run that began with {@code first}: it computes as many elements,
   * in the same tiles, and reads nothing else that the run has written.
   */
  private static boolean follows(
      List<KernelCall> calls, int first, int next, ElementCall before, ElementCall call) {
    boolean isIndependent =
        call.steps().stream()
            .flatMap(step -> step.operands.stream())
            .filter(operand -> !operand.isValues)
            .allMatch(
                operand ->
                    calls.subList(first, next).stream()
                        .noneMatch(each -> isSamePlace(out(each), operand.pointer)));
    return before.count().equals(call.count())
        && calls.get(first).runsWith(calls.get(next))
        && isIndependent;
  }

  /**
   * Whether only the run reads what it writes to a place: the call before it may have written its
   * source there. The values of another place are needed, unless the run overwrites them at last.
   */
  private static boolean isTemporary(List<KernelCall> calls, int first, int next, Value place) {
    return place instanceof Value.ScratchPointer(int scratch, TileExpression offset)
        && IntStream.range(0, calls.size())
            .filter(each -> each < first || each > next)
            .filter(each -> each != first - 1 || !writes(calls.get(each), place))
            .noneMatch(each -> uses(calls.get(each).arguments(), scratch));
  }

  /** Whether a call only writes to a place, all values anew. */
  private static boolean writes(KernelCall call, Value place) {
    return out(call).equals(place)
        && call.arguments().stream().flatMap(Argument::pointers).filter(place::equals).count() == 1;
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

  static Optional<Long> literal(List<Argument> arguments, String field) {
    Optional<Value> value = CallFields.find(arguments, field);
    if (value.isEmpty()) {
      return Optional.of(0L);
    }
    return value.get() instanceof Value.Integer(TileExpression.Literal(long number))
        ? Optional.of(number)
        : Optional.empty();
  }
}
