package io.partita.passes.schedule;

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
}
