package io.partita.passes.schedule.tile;

import io.partita.ir.schedule.kernel.CallForm;
import io.partita.ir.schedule.kernel.ElementRun;
import io.partita.ir.schedule.kernel.Kernel;
import io.partita.ir.schedule.kernel.KernelCall;
import io.partita.ir.schedule.kernel.TileExpression;
import io.partita.ir.target.ChipKind;
import io.partita.ir.target.FunctionThroughput;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * What the cores are started for once in a tile: a kernel, or a run of functions of elements if the
 * chip has figures for such runs.
 *
 * @param first the number of its first call in the loop
 * @param work {@code batch, rows, columns, depth}; the depth of a run is the cost of an element in
 *     instructions, roughly: of its functions, operands, terms of sums, load and store
 * @param onFirst as in {@link KernelCall}
 * @param onLast likewise
 * @param form of the call; the usual one for a run
 * @param run the figures of a run; empty for a kernel
 */
public record CallUnit(
    int first,
    Kernel kernel,
    List<TileExpression> work,
    List<Integer> onFirst,
    List<Integer> onLast,
    CallForm form,
    Optional<FunctionThroughput> run) {
  /** The cost of load, store and loop, in functions of one instruction. */
  private static final long MOVES = 3;

  private static final long REQUANTIZE = 4;

  /** The cost of a load. */
  private static final long LOOKUP = 1;

  /** The cost of a function of floats, for which two cores share a unit. */
  private static final long OF_FLOATS = 2;

  /** The cost of load and store where elements are in groups. */
  private static final long MOVES_IN_GROUPS = 2;

  /** The cost of an operand that isn't the same for all elements of a group. */
  private static final long OPERAND_IN_GROUPS = 2;

  private static final long QUANTIZE_IN_GROUPS = 9;

  /** The cost of a term of a product, or of a word of bytes: two loads, a multiply-accumulate. */
  private static final long TERM = 3;

  /** Returns what the cores are started for by the calls of a loop, in order. */
  public static List<CallUnit> of(List<KernelCall> calls, ChipKind chip) {
    List<ElementRun> runs = chip.functions().isEmpty() ? List.of() : ElementRun.of(calls);
    List<CallUnit> units = new ArrayList<>();
    int next = 0;
    for (ElementRun run : runs) {
      Optional<FunctionThroughput> figures = chip.function(run.figures());
      if (figures.isPresent()) {
        add(units, calls, next, run.first());
        TileExpression one = TileExpression.of(1);
        KernelCall first = calls.get(run.first());
        units.add(
            new CallUnit(
                run.first(),
                first.kernel(),
                List.of(one, one, run.count(), TileExpression.of(depth(run))),
                first.onFirst(),
                first.onLast(),
                CallForm.USUAL,
                figures));
        next = run.end();
      }
    }
    add(units, calls, next, calls.size());
    return units;
  }

  /** Adds each of the calls from {@code from} to {@code to}, exclusive, by itself. */
  private static void add(List<CallUnit> units, List<KernelCall> calls, int from, int to) {
    for (int i = from; i < to; i++) {
      KernelCall call = calls.get(i);
      units.add(
          new CallUnit(
              i,
              call.kernel(),
              call.work(),
              call.onFirst(),
              call.onLast(),
              CallForm.of(call),
              Optional.empty()));
    }
  }

  private static long depth(ElementRun run) {
    long depth = run.isGrouped() ? MOVES_IN_GROUPS : MOVES;
    if (run.source() instanceof ElementRun.Product product) {
      depth += TERM * (product.isOfWords() ? product.k() / Integer.BYTES : product.k());
    }
    for (ElementRun.Step step : run.steps()) {
      depth += cost(step);
      if (run.isGrouped() && step.function() != ElementRun.Function.LOOKUP) {
        depth += OPERAND_IN_GROUPS * step.operands().stream().filter(CallUnit::isLoaded).count();
      }
    }
    return depth;
  }

  private static boolean isLoaded(ElementRun.Operand operand) {
    return !operand.isValues() && !operand.period().equals(Optional.of(1L));
  }

  private static long cost(ElementRun.Step step) {
    return switch (step.function()) {
      case REQUANTIZE -> REQUANTIZE;
      case LOOKUP -> LOOKUP;
      case QUANTIZE -> QUANTIZE_IN_GROUPS;
      case ADD, SUB, MUL, MIN, MAX, CAST -> step.to().isFloat() ? OF_FLOATS : 1;
    };
  }

  /** Returns the name of its figures in a target that has them. */
  public String figures() {
    return run.isPresent() ? run.get().function() : form.figures(kernel);
  }

  double cycles(List<Long> counts, ChipKind chip) {
    long batch = counts.get(0);
    long rows = counts.get(1);
    long columns = counts.get(2);
    long depth = counts.get(3);
    return run.isPresent()
        ? run.get().cycles(batch, rows, columns, depth, chip.cores())
        : SharedWork.cycles(kernel, form, batch, rows, columns, depth, chip);
  }

  double coldCycles(ChipKind chip) {
    return run.isPresent() ? run.get().coldCycles() : SharedWork.coldCycles(kernel, form, chip);
  }
}
