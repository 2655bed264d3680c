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
 * What the chips of a role do, before regions have places.
 *
 * @param tasks one run, in order
 * @param outside constants that nodes outside of transformer blocks are the first to read
 * @param values what tasks write
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

  /** The same with more loops, of which it doesn't run all. */
  ChipTasks with(List<TiledKernel> all) {
    return new ChipTasks(devices, all, tasks, inputs, outputs, states, outside, values);
  }

  /**
   * A tensor by its name in the model; it's contiguous.
   *
   * @param range the values that an input may hold; none where it may hold any
   */
  record Named(String name, TensorType type, Storage storage, Optional<InputRange> range) {
    Region region() {
      return storage.region();
    }
  }
}
