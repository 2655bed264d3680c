package io.partita.passes.schedule;

import io.partita.ir.graph.InputRange;
import io.partita.ir.schedule.TiledKernel;
import io.partita.ir.type.TensorType;
import io.partita.passes.schedule.place.Task;
import io.partita.passes.schedule.view.Region;
import io.partita.passes.schedule.view.Storage;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * The tasks of the chips of a role, before regions have addresses.
 *
 * @param tasks the tasks of a run, in order
 * @param outside the constants whose first user is outside of transformer blocks
 * @param values the values that tasks write
 */
record ChipTasks(
    List<Integer> devices,
    List<TiledKernel> kernels,
    List<Task> tasks,
    List<Named> inputs,
    List<Named> outputs,
    List<Named> states,
    Set<Region> outside,
    WrittenValues values) {
  ChipTasks {
    devices = List.copyOf(devices);
    kernels = List.copyOf(kernels);
    tasks = List.copyOf(tasks);
    inputs = List.copyOf(inputs);
    outputs = List.copyOf(outputs);
    states = List.copyOf(states);
    outside = Set.copyOf(outside);
  }

  /** Returns the tasks with additional loops, which are not all run. */
  ChipTasks with(List<TiledKernel> all) {
    return new ChipTasks(devices, all, tasks, inputs, outputs, states, outside, values);
  }

  /**
   * A contiguous tensor with its name in the model.
   *
   * @param range the valid values of an input; empty if all are valid
   */
  record Named(String name, TensorType type, Storage storage, Optional<InputRange> range) {
    Region region() {
      return storage.region();
    }
  }
}
