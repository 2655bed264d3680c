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
import java.util.stream.IntStream;

/**
 * Replaces the norm of a few rows, each of which every core would sum, by calls in which the cores
 * sum them together, and then scale and maybe quantize them; with the same results. Other calls may
 * compute what it normalises.
 */
final class RowsTogether {
  private static final String LAYER = "layer_norm_f32";
  private static final String RMS = "rms_norm_f32";

  private final TileSpace space;

  /** The number of the norm among the calls. */
  private final int place;

  private final KernelCall norm;
  private final List<TileSpace.Scratch> scratch;
  private final List<KernelCall> calls = new ArrayList<>();

  private RowsTogether(TileSpace space, int place) {
    this.space = space;
    this.place = place;
    this.norm = space.calls().get(place);
    this.scratch = new ArrayList<>(space.scratch());
  }

  /** Returns the space with these calls; empty if it has no norm of a few rows. */
  static Optional<TileSpace> of(TileSpace space) {
    return IntStream.range(0, space.calls().size())
        .filter(i -> List.of(LAYER, RMS).contains(space.calls().get(i).kernel().name()))
        .mapToObj(i -> new RowsTogether(space, i))
        .filter(RowsTogether::areFew)
        .findFirst()
        .map(RowsTogether::space);
  }

  /** With as many rows as parts, each core has rows of its own. */
  private boolean areFew() {
    return rows().replacing(this::whole) instanceof TileExpression.Literal(long rows)
        && rows < KernelStruct.NORM_PARTS;
  }

  private TileExpression whole(TileExpression leaf) {
    return leaf instanceof TileExpression.Size(int axis)
        ? TileExpression.of(space.axes().get(axis).extent())
        : leaf;
  }

  private TileSpace space() {
    calls.addAll(space.calls().subList(0, place));
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
    int next = place + (levels.isPresent() ? 2 : 1);
    calls.addAll(space.calls().subList(next, space.calls().size()));
    return new TileSpace(space.name(), space.axes(), space.operands(), scratch, calls);
  }

  /** Returns the second call, if one kernel computes it with a norm that only it uses. */
  private Optional<ElementRun.Step> levels() {
    boolean isScaled =
        norm.kernel().name().equals(RMS)
            && CallFields.find(norm.arguments(), "scale").filter(RowsTogether::isGiven).isPresent()
            && CallFields.find(norm.arguments(), "bias").filter(RowsTogether::isGiven).isEmpty();
    return between().isPresent() && isScaled && space.calls().get(place + 1).runsWith(norm)
        ? ElementRun.quantization(space.calls().get(place + 1), value("out"))
        : Optional.empty();
  }

  private static boolean isGiven(Argument.Value pointer) {
    return !(pointer instanceof Argument.Value.Null);
  }

  /** Returns the number of the scratch with the norm's result, if at most the next call uses it. */
  private Optional<Integer> between() {
    return space.calls().size() > place + 1
            && value("out") instanceof Argument.Value.ScratchPointer(int number, _)
            && IntStream.range(0, space.calls().size())
                .filter(i -> i < place || i > place + 1)
                .noneMatch(i -> uses(space.calls().get(i), number))
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
    TileSpace.Scratch sums =
        new TileSpace.Scratch(result, rows().times(KernelStruct.NORM_PARTS * Float.BYTES));
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
                new Argument("rows", value("rows")),
                new Argument("size", value("size"))),
            norm.onLast()));
    return field;
  }

  private TileExpression rows() {
    if (value("rows") instanceof Argument.Value.Integer(TileExpression count)) {
      return count;
    }
    throw new IllegalStateException("rows of " + norm);
  }

  private Argument.Value value(String field) {
    return CallFields.find(norm.arguments(), field).orElseThrow();
  }

  /** Adds a call in the place of the norm. */
  private void call(String kernel, List<Argument> arguments) {
    calls.add(new KernelCall(KernelTable.get(kernel), arguments, norm.onLast()));
  }
}
