package io.partita.passes.schedule.tile;

import io.partita.ir.schedule.kernel.Argument;
import io.partita.ir.schedule.kernel.CallFields;
import io.partita.ir.schedule.kernel.ElementRun;
import io.partita.ir.schedule.kernel.KernelCall;
import io.partita.ir.schedule.kernel.KernelStruct;
import io.partita.ir.schedule.kernel.KernelTable;
import io.partita.ir.schedule.kernel.TileExpression;
import io.partita.passes.schedule.lower.TileSpace;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Replaces the norm of a few rows, each of which every core would sum, by calls in which the cores
 * sum them together, and then scale and maybe quantize them; with the same results.
 */
final class RowsTogether {
  private static final String LAYER = "layer_norm_f32";
  private static final String RMS = "rms_norm_f32";

  private final TileSpace space;
  private final KernelCall norm;
  private final List<TileSpace.Scratch> scratch;
  private final List<KernelCall> calls = new ArrayList<>();

  private RowsTogether(TileSpace space) {
    this.space = space;
    this.norm = space.calls().getFirst();
    this.scratch = new ArrayList<>(space.scratch());
  }

  /** Returns the space with these calls; empty if it doesn't begin with the norm of a few rows. */
  static Optional<TileSpace> of(TileSpace space) {
    long rows =
        space.axes().stream().mapToLong(TileSpace.Axis::extent).reduce(1, Math::multiplyExact);
    boolean isNorm =
        space.calls().stream()
            .findFirst()
            .filter(call -> List.of(LAYER, RMS).contains(call.kernel().name()))
            .isPresent();
    // With as many rows as parts, each core has rows of its own.
    return isNorm && rows < KernelStruct.NORM_PARTS
        ? Optional.of(new RowsTogether(space).space())
        : Optional.empty();
  }

  private TileSpace space() {
    Argument elements = Argument.none("elements");
    if (norm.kernel().name().equals(LAYER)) {
      elements = sum("norm_sums_f32", elements, scratch.size(), "elements");
    }
    Optional<ElementRun.Step> levels = levels();
    // Values between norm and levels aren't in memory.
    int squaresAt = levels.isPresent() ? between().orElseThrow() : scratch.size();
    Argument squares = sum("norm_squares_f32", elements, squaresAt, "squares");
    if (levels.isPresent()) {
      call("rms_norm_quantize_f32_" + levels.get().to(), fused(squares, levels.get()));
    } else {
      List<Argument> arguments = new ArrayList<>(List.of(elements, squares));
      arguments.addAll(norm.arguments());
      call("norm_by_sums_f32", arguments);
    }
    calls.addAll(space.calls().subList(levels.isPresent() ? 2 : 1, space.calls().size()));
    return new TileSpace(space.name(), space.axes(), space.operands(), scratch, calls);
  }

  /** Returns the second call, if one kernel computes it with a norm that only it uses. */
  private Optional<ElementRun.Step> levels() {
    boolean isScaled =
        norm.kernel().name().equals(RMS)
            && CallFields.find(norm.arguments(), "scale").filter(RowsTogether::isGiven).isPresent()
            && CallFields.find(norm.arguments(), "bias").filter(RowsTogether::isGiven).isEmpty();
    return between().isPresent() && isScaled && space.calls().get(1).onLast().equals(norm.onLast())
        ? ElementRun.quantization(space.calls().get(1), value("out"))
        : Optional.empty();
  }

  private static boolean isGiven(Argument.Value pointer) {
    return !(pointer instanceof Argument.Value.Null);
  }

  /** Returns the number of the scratch with the norm's result, if at most the next call uses it. */
  private Optional<Integer> between() {
    return space.calls().size() > 1
            && value("out") instanceof Argument.Value.ScratchPointer(int number, _)
            && space.calls().stream().skip(2).noneMatch(call -> uses(call, number))
        ? Optional.of(number)
        : Optional.empty();
  }

  private static boolean uses(KernelCall call, int scratch) {
    return call.arguments().stream()
        .flatMap(Argument::pointers)
        .anyMatch(
            pointer ->
                pointer instanceof Argument.Value.ScratchPointer(int own, _) && own == scratch);
  }

  private List<Argument> fused(Argument squares, ElementRun.Step levels) {
    return List.of(
        new Argument("x", value("x")),
        squares,
        new Argument("scale", value("scale")),
        new Argument("step", levels.operands().get(0).pointer()),
        new Argument("zero", levels.operands().get(1).pointer()),
        new Argument("out", CallFields.find(levels.call().arguments(), "out").orElseThrow()),
        new Argument("rows", value("rows")),
        new Argument("size", value("size")),
        new Argument("epsilon", value("epsilon")));
  }

  /**
   * Adds a call whose result is in scratch, and returns a field with this result.
   *
   * @param at the number of the scratch, an earlier one that isn't needed any more or the next one
   */
  private Argument sum(String kernel, Argument elements, int at, String result) {
    Argument.Value rows = value("rows");
    if (!(rows instanceof Argument.Value.Integer(TileExpression count))) {
      throw new IllegalStateException("rows of " + norm);
    }
    TileSpace.Scratch sums =
        new TileSpace.Scratch(result, count.times(KernelStruct.NORM_PARTS * Float.BYTES));
    if (at < scratch.size()) {
      scratch.set(at, sums);
    } else {
      scratch.add(sums);
    }
    Argument field = Argument.scratch(result, at);
    calls.add(
        new KernelCall(
            KernelTable.get(kernel),
            List.of(
                new Argument("x", value("x")),
                elements,
                new Argument("out", field.value()),
                new Argument("rows", rows),
                new Argument("size", value("size"))),
            List.of()));
    return field;
  }

  private Argument.Value value(String field) {
    return CallFields.find(norm.arguments(), field).orElseThrow();
  }

  /** Adds a call in the place of the norm. */
  private void call(String kernel, List<Argument> arguments) {
    calls.add(new KernelCall(KernelTable.get(kernel), arguments, norm.onLast()));
  }
}
