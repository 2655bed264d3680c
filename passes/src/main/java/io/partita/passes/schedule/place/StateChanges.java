package io.partita.passes.schedule.place;

import io.partita.ir.schedule.StateLines;
import io.partita.passes.schedule.place.StreamedRegions.Change;
import io.partita.passes.schedule.view.Region;
import io.partita.passes.schedule.view.Storage;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * How the tasks of a run change states. Where only updates of lines do, their lines are known, and
 * the position of each is read again right after it.
 */
final class StateChanges {
  /**
   * A task that writes a region.
   *
   * @param lines whether it changes only lines, which take less time to write back than the region
   */
  private record Write(int task, boolean lines) {}

  private final List<Task> tasks;
  private final Map<Region, List<Write>> writes = new IdentityHashMap<>();

  /**
   * @param times of the tasks
   * @param alignment of the farther memory, in bytes
   */
  StateChanges(List<Task> tasks, TransferTimes times, long alignment) {
    this.tasks = tasks;
    int guardEnd = 0;
    for (int i = 0; i < tasks.size(); i++) {
      Task task = tasks.get(i);
      if (task instanceof Task.Guard guard) {
        guardEnd = i + 1 + guard.tasks();
      }
      for (Region region : task.written()) {
        // A guarded update may not run, and what computes its position neither.
        boolean isWorthIt =
            i >= guardEnd
                && region.kind() == Region.Kind.STATE
                && task instanceof Task.Loop loop
                && isWorthIt(loop, region, times, alignment);
        writes.computeIfAbsent(region, each -> new ArrayList<>()).add(new Write(i, isWorthIt));
      }
    }
  }

  private static boolean isWorthIt(
      Task.Loop loop, Region region, TransferTimes times, long alignment) {
    Optional<StateLines> found = lines(loop, Collections.nCopies(loop.operands().size(), 0L));
    if (found.isEmpty()) {
      return false;
    }
    StateLines lines = found.get();
    return lines.lineBytes() % alignment == 0
        && loop.stored().byteOffset() % alignment == 0
        && times.spillCycles(lines.parts(), lines.partBytes())
            < times.spillCycles(1, region.bytes());
  }

  private static Optional<StateLines> lines(Task.Loop loop, List<Long> places) {
    return StateLines.of(loop.kernel(), places);
  }

  /** Whether a task changes only lines of a state, and these are written back. */
  boolean areLines(int task) {
    return tasks.get(task).written().stream().anyMatch(region -> areLines(region, task));
  }

  private boolean areLines(Region region, int task) {
    List<Write> all = writes.get(region);
    return all.stream().allMatch(Write::lines) && all.stream().anyMatch(w -> w.task == task);
  }

  /**
   * Returns the changes of a region, in order.
   *
   * @param near the addresses in the home memory of regions that don't change
   */
  List<Change> of(Region region, Map<Region, Long> near) {
    List<Write> all = writes.getOrDefault(region, List.of());
    if (all.isEmpty()) {
      return List.of();
    }
    if (!all.stream().allMatch(Write::lines)) {
      return List.of(new Change(all.getLast().task + 1, 0, Optional.empty()));
    }
    return all.stream().map(write -> lines(write.task, near)).toList();
  }

  private Change lines(int task, Map<Region, Long> near) {
    Task.Loop loop = (Task.Loop) tasks.get(task);
    List<Long> places = loop.operands().stream().map(each -> place(each, near)).toList();
    return new Change(task + 1, loop.stored().byteOffset(), lines(loop, places));
  }

  /** Returns the place of an operand; 0 if it has none yet, as the state itself. */
  private static long place(Storage operand, Map<Region, Long> near) {
    return near.getOrDefault(operand.region(), 0L) + operand.byteOffset();
  }
}
