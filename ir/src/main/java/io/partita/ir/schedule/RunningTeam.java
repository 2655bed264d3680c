package io.partita.ir.schedule;

import io.partita.ir.schedule.kernel.ScalarCall;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;

/**
 * Which loops end while their kernel still runs: the control core goes on with the next steps, as
 * far as they only await and start transfers and leave alone what the kernel uses of the working
 * memory. It may prepare the next loop, too, whose kernel begins when this one has ended. Such a
 * loop has one tile and stores nothing in the home memory.
 */
public final class RunningTeam {
  private final ChipSchedule chip;
  private final BitSet left = new BitSet();
  private final BitSet awaited = new BitSet();

  /** Bytes of the working memory. */
  private record Range(long from, long to) {
    boolean meets(Range other) {
      return from < other.to && other.from < to;
    }
  }

  private RunningTeam(ChipSchedule chip) {
    this.chip = chip;
  }

  /** Returns the loops of a run that leave their kernel running. */
  public static RunningTeam of(ChipSchedule chip) {
    RunningTeam team = new RunningTeam(chip);
    for (int i = 0; i < chip.steps().size() && !chip.working().isPrivate(); i++) {
      if (chip.steps().get(i) instanceof ScheduleStep.RunTiles run) {
        team.add(run, i);
      }
    }
    return team;
  }

  /** Whether a step is a loop that ends while its kernel still runs. */
  public boolean isLeft(int step) {
    return left.get(step);
  }

  /** Whether the kernel that a loop before has left running is awaited before a step begins. */
  public boolean isAwaitedBefore(int step) {
    return awaited.get(step);
  }

  private void add(ScheduleStep.RunTiles run, int index) {
    TiledKernel kernel = chip.kernels().get(run.kernel());
    if (kernel.tiles() != 1 || isStoring(kernel) || !hasTeam(kernel)) {
      return;
    }
    List<Range> used = used(run, kernel);
    int next = index + 1;
    while (next < chip.steps().size() && isBeside(next, used)) {
      next++;
    }
    boolean isPrepared = next < chip.steps().size() && isPrepared(next, run, used);
    if (isPrepared || next > index + 1 && next < chip.steps().size()) {
      left.set(index);
      awaited.set(next, !isPrepared);
    }
  }

  private static boolean isStoring(TiledKernel kernel) {
    return kernel.operands().stream()
        .anyMatch(operand -> operand.isMoved() && operand.direction() == Direction.STORE);
  }

  /** Whether the team computes the loop, not the control core or a transfer. */
  private static boolean hasTeam(TiledKernel kernel) {
    return ScalarCall.of(kernel.calls()).isEmpty() && NearCopy.of(kernel).isEmpty();
  }

  /** Returns what a kernel reads or writes. */
  private static List<Range> used(ScheduleStep.RunTiles run, TiledKernel kernel) {
    List<Range> used = new ArrayList<>();
    used.add(new Range(0, kernel.workingBytes()));
    for (int i = 0; i < run.operands().size(); i++) {
      if (kernel.operands().get(i).isNear()) {
        long from = run.operands().get(i);
        used.add(new Range(from, new OperandRows(kernel.operands().get(i), from).end()));
      }
    }
    return used;
  }

  /** Whether a step can be done while the kernel runs. */
  private boolean isBeside(int index, List<Range> used) {
    return switch (chip.steps().get(index)) {
      case ScheduleStep.AwaitPreload _, ScheduleStep.FetchRows _, ScheduleStep.AwaitRows _ -> true;
      case ScheduleStep.Preload preload ->
          chip.isStartedByNext(index)
              || isUnused(new Range(preload.working(), preload.working() + preload.bytes()), used);
      case ScheduleStep any -> false;
    };
  }

  /**
   * Whether a step is a loop that can be prepared while the kernel runs: its first loads leave what
   * the kernel uses alone. The arguments of loops that are alike have the same place.
   */
  private boolean isPrepared(int index, ScheduleStep.RunTiles run, List<Range> used) {
    if (!(chip.steps().get(index) instanceof ScheduleStep.RunTiles loop)
        || loop.kernel() == run.kernel()) {
      return false;
    }
    TiledKernel next = chip.kernels().get(loop.kernel());
    return hasTeam(next)
        && next.operands().stream()
            .filter(operand -> operand.isMoved() && operand.direction() == Direction.LOAD)
            .map(each -> new Range(each.offset(), each.offset() + each.slots() * each.slotBytes()))
            .allMatch(loaded -> isUnused(loaded, used));
  }

  private static boolean isUnused(Range range, List<Range> used) {
    return used.stream().noneMatch(range::meets);
  }
}
