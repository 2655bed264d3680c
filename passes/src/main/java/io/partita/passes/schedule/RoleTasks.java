package io.partita.passes.schedule;

import io.partita.ir.target.ChipKind;
import io.partita.passes.schedule.place.Task;
import io.partita.passes.schedule.tile.LoopTime;
import java.util.List;

/**
 * The tasks of a role.
 *
 * @param entries of each entry point
 * @param kernels the loops of the tasks
 */
record RoleTasks(List<ChipTasks> entries, LoopKernels kernels) {
  RoleTasks {
    entries = List.copyOf(entries);
  }

  /** Returns the cycles of all loops, those of each entry point once. */
  double loopCycles(ChipKind chip) {
    double sum = 0;
    for (ChipTasks tasks : entries) {
      List<Double> loops =
          tasks.kernels().stream().map(kernel -> LoopTime.of(kernel, chip).cycles()).toList();
      for (Task task : tasks.tasks()) {
        sum += task instanceof Task.Loop loop ? loops.get(loop.index()) : 0;
      }
    }
    return sum;
  }
}
