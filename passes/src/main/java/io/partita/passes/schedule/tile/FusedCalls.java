package io.partita.passes.schedule.tile;

import io.partita.ir.schedule.Direction;
import io.partita.ir.schedule.kernel.Argument;
import io.partita.ir.schedule.kernel.Epilogue;
import io.partita.ir.schedule.kernel.Kernel;
import io.partita.ir.schedule.kernel.KernelCall;
import io.partita.ir.schedule.kernel.KernelTable;
import io.partita.passes.schedule.lower.TileSpace;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Replaces a product and the user of its sums by one kernel, if the table has one. Further
 * epilogues remain calls. The sums then aren't in memory, so their axes can't be tiled.
 */
final class FusedCalls {
  private FusedCalls() {}

  static Optional<TileSpace> of(TileSpace space) {
    if (space.calls().size() < 2) {
      return Optional.empty();
    }
    KernelCall first = space.calls().get(0);
    KernelCall second = space.calls().get(1);
    return KernelTable.fused(first.kernel(), second.kernel())
        .flatMap(kernel -> fused(kernel, first, second, rank(space)))
        .map(call -> with(space, call));
  }

  private static Optional<KernelCall> fused(
      Kernel kernel, KernelCall first, KernelCall second, int rank) {
    Epilogue epilogue = kernel.epilogue().orElseThrow();
    return epilogue.fused(kernel, first, second, rank);
  }

  private static int rank(TileSpace space) {
    return space.operands().stream()
        .filter(operand -> operand.direction() == Direction.STORE)
        .mapToInt(operand -> operand.box().size())
        .findFirst()
        .orElse(0);
  }

  private static TileSpace with(TileSpace space, KernelCall call) {
    List<TileSpace.Axis> axes =
        space.axes().stream().map(axis -> axis.reduction() ? whole(axis) : axis).toList();
    List<KernelCall> calls = new ArrayList<>(space.calls().subList(1, space.calls().size()));
    calls.set(0, call);
    return new TileSpace(
        call.kernel().name(),
        axes,
        space.operands(),
        space.scratch().subList(0, usedScratch(calls)),
        calls);
  }

  /** Returns the number of scratch memories up to the last one that calls use. */
  private static int usedScratch(List<KernelCall> calls) {
    return calls.stream()
        .flatMap(call -> call.arguments().stream())
        .flatMap(Argument::pointers)
        .mapToInt(
            pointer ->
                pointer instanceof Argument.Value.ScratchPointer(int scratch, var offset)
                    ? scratch + 1
                    : 0)
        .max()
        .orElse(0);
  }

  private static TileSpace.Axis whole(TileSpace.Axis axis) {
    return new TileSpace.Axis(
        axis.name(), axis.extent(), axis.extent(), axis.extent(), true, axis.limit());
  }
}
