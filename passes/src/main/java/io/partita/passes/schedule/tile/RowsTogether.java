package io.partita.passes.schedule.tile;

import io.partita.ir.schedule.kernel.Argument;
import io.partita.ir.schedule.kernel.CallFields;
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
 * sum them together, and then scale them; with the same results.
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
      elements = sum("norm_sums_f32", elements, "elements");
    }
    Argument squares = sum("norm_squares_f32", elements, "squares");
    List<Argument> arguments = new ArrayList<>(List.of(elements, squares));
    arguments.addAll(norm.arguments());
    call("norm_by_sums_f32", arguments, norm.onLast());
    calls.addAll(space.calls().subList(1, space.calls().size()));
    return new TileSpace(space.name(), space.axes(), space.operands(), scratch, calls);
  }

  /** Adds a call whose result is in scratch, and returns a field with this result. */
  private Argument sum(String kernel, Argument elements, String result) {
    Argument.Value rows = value("rows");
    if (!(rows instanceof Argument.Value.Integer(TileExpression count))) {
      throw new IllegalStateException("rows of " + norm);
    }
    scratch.add(new TileSpace.Scratch(result, count.times(KernelStruct.NORM_PARTS * Float.BYTES)));
    Argument field = Argument.scratch(result, scratch.size() - 1);
    call(
        kernel,
        List.of(
            new Argument("x", value("x")),
            elements,
            new Argument("out", field.value()),
            new Argument("rows", rows),
            new Argument("size", value("size"))),
        List.of());
    return field;
  }

  private Argument.Value value(String field) {
    return CallFields.find(norm.arguments(), field).orElseThrow();
  }

  private void call(String kernel, List<Argument> arguments, List<Integer> onLast) {
    calls.add(new KernelCall(KernelTable.get(kernel), arguments, onLast));
  }
}
