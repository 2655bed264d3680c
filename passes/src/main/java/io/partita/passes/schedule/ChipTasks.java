package io.partita.passes.schedule;

import io.partita.ir.graph.InputRange;
import io.partita.ir.schedule.TiledKernel;
import io.partita.ir.type.TensorType;
import io.partita.passes.schedule.place.Task;
import io.partita.passes.schedule.view.Region;
import io.partita.passes.schedule.view.Storage;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * The tasks of the chips of a role, before regions have addresses.
 *
 * @param tasks the tasks of a run, in order
 * @param outside the constants whose first user is outside of transformer blocks
 * @param values the values that tasks write
 * @param near the offsets in the working memory of the regions that are kept there
 * @param loopBytes the bytes of the working memory, from 0, that loops and exchanges may use
 * @param ahead the preloads that are under way when a run begins: those that the run before has
 *     started last, without a task that awaits them
 */
record ChipTasks(
    List<Integer> devices,
    List<TiledKernel> kernels,
    List<Task> tasks,
    List<Named> inputs,
    List<Named> outputs,
    List<Named> states,
    Set<Region> outside,
    WrittenValues values,
    Map<Region, Long> near,
    long loopBytes,
    List<Task.Preload> ahead) {
  ChipTasks {
    devices = List.copyOf(devices);
    kernels = List.copyOf(kernels);
    tasks = List.copyOf(tasks);
    inputs = List.copyOf(inputs);
    outputs = List.copyOf(outputs);
    states = List.copyOf(states);
    outside = Set.copyOf(outside);
    ahead = List.copyOf(ahead);
  }

  /** Returns the tasks with additional loops, which are not all run. */
  ChipTasks with(List<TiledKernel> all) {
    return new ChipTasks(
        devices, all, tasks, inputs, outputs, states, outside, values, near, loopBytes, ahead);
  }

  /**
   * Returns other tasks for the same values, some of which are kept in the working memory.
   *
   * @param places where these tasks are among the others
   */
  ChipTasks near(
      List<Task> others,
      int[] places,
      List<TiledKernel> loops,
      Map<Region, Long> near,
      long loopBytes) {
    return new ChipTasks(
        devices,
        loops,
        others,
        inputs,
        outputs,
        states,
        outside,
        values.at(places),
        near,
        loopBytes,
        ahead);
  }

  /**
   * Returns the tasks with others between them, which write no values.
   *
   * @param places where these tasks are among all
   * @param near as in {@link #near}
   * @param early the preloads among them that are under way when a run begins
   */
  ChipTasks with(List<Task> all, int[] places, Map<Region, Long> near, List<Task.Preload> early) {
    return new ChipTasks(
        devices,
        kernels,
        all,
        inputs,
        outputs,
        states,
        outside,
        values.at(places),
        near,
        loopBytes,
        early);
  }

  /** Returns the copy of small constants with which a run begins. */
  Optional<Task.Preload> smallConstants() {
    return !tasks.isEmpty() && tasks.getFirst() instanceof Task.Preload copy
        ? Optional.of(copy)
        : Optional.empty();
  }

  /**
   * Returns the bytes of the working memory before those of preloads that are under way at an
   * exchange, also when it begins.
   *
   * @param number of the task
   */
  long exchangeBytes(int number, Task.Exchange exchange) {
    int begin = tasks.indexOf(new Task.BeginExchange(exchange));
    return Math.min(freeBytes(number), begin < 0 ? Long.MAX_VALUE : freeBytes(begin));
  }

  private long freeBytes(int number) {
    Map<Integer, Region> underWay = new HashMap<>();
    ahead.forEach(preload -> underWay.put(preload.number(), preload.constant()));
    for (Task task : tasks.subList(0, number)) {
      if (task instanceof Task.Preload preload) {
        underWay.put(preload.number(), preload.constant());
      } else if (task instanceof Task.AwaitPreload await) {
        underWay.remove(await.number());
      }
    }
    return underWay.values().stream().mapToLong(near::get).reduce(loopBytes, Math::min);
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
