package io.partita.passes.schedule;

import io.partita.ir.graph.Origin;
import io.partita.ir.target.ChipKind;
import io.partita.passes.schedule.PlannedPreload.Part;
import io.partita.passes.schedule.place.Task;
import io.partita.passes.schedule.tile.LoopTime;
import io.partita.passes.schedule.view.Region;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Adds what starts and awaits preloads to the tasks of a chip. */
final class PreloadedTasks {
  private static final int NONE = -1;

  private final ChipTasks tasks;
  private final List<Task> changed;
  private final List<PlannedPreload> preloads;
  private final ChipKind chip;
  private final List<Task> all = new ArrayList<>();

  /** The numbers of preloads in flight; those of the run before are taken at any time. */
  private final Map<Region, Integer> numbers = new IdentityHashMap<>();

  private PreloadedTasks(
      ChipTasks tasks, List<Task> changed, List<PlannedPreload> preloads, ChipKind chip) {
    this.tasks = tasks;
    this.changed = changed;
    this.preloads = preloads;
    this.chip = chip;
  }

  /**
   * @param changed the tasks, with loops that use what is preloaded
   * @param preloads in the order in which a task starts their parts
   * @param constantsTasks tasks that may start the copy of small constants for the next run, the
   *     preferred one first, as far as they and those behind them leave its bytes alone
   */
  static ChipTasks of(
      ChipTasks tasks,
      List<Task> changed,
      List<PlannedPreload> preloads,
      List<Integer> constantsTasks,
      ChipKind chip) {
    return new PreloadedTasks(tasks, changed, preloads, chip).with(constantsTasks);
  }

  private ChipTasks with(List<Integer> constantsTasks) {
    Map<Region, Long> offsets = new IdentityHashMap<>(tasks.near());
    List<Task.Preload> early = new ArrayList<>();
    for (PlannedPreload each : preloads) {
      offsets.put(each.constant(), each.offset());
      if (each.isAhead()) {
        // The number 0 is that of small constants.
        numbers.put(each.constant(), 1 + numbers.size());
        each.parts().forEach(part -> early.add(task(each, part)));
      }
    }
    Optional<Task.Preload> copy = tasks.smallConstants();
    int constantsTask =
        copy.flatMap(
                own -> constantsTasks.stream().filter(task -> isFreeFrom(task, own)).findFirst())
            .orElse(NONE);
    Optional<Task.Preload> constants = copy.filter(own -> constantsTask != NONE);
    constants.ifPresent(
        own -> {
          early.add(own);
          numbers.put(own.constant(), own.number());
        });
    int[] places = new int[changed.size()];
    for (int i = 0; i < places.length; i++) {
      if (awaitsOnly(i)) {
        addStarts(i);
        addWaits(i);
      } else {
        addWaits(i);
        addStarts(i);
      }
      if (i == constantsTask) {
        constants.ifPresent(all::add);
      }
      places[i] = all.size();
      if (constants.isEmpty() || changed.get(i) != constants.get()) {
        all.add(changed.get(i));
      }
    }
    return tasks.with(all, places, offsets, early);
  }

  /** Whether the tasks from one on, another one, leave the bytes alone that a preload writes. */
  private boolean isFreeFrom(int task, Task.Preload copy) {
    long from = tasks.near().get(copy.constant());
    long to = from + copy.bytes();
    return task > 0
        && changed.subList(task, changed.size()).stream()
            .flatMap(each -> each.used().stream())
            .filter(tasks.near()::containsKey)
            .noneMatch(
                region ->
                    tasks.near().get(region) < to
                        && from < tasks.near().get(region) + region.bytes());
  }

  /**
   * Whether a loop waits for preloads and has no other transfers before its result. It doesn't
   * start one itself then, which follows the one it waits for without a gap.
   */
  private boolean awaitsOnly(int task) {
    return changed.get(task) instanceof Task.Loop loop
        && preloads.stream().anyMatch(each -> each.to() == task)
        && LoopTime.of(loop.kernel(), chip).loadedBytes() == 0;
  }

  private void addWaits(int task) {
    for (PlannedPreload each : preloads) {
      if (each.to() == task) {
        all.add(new Task.AwaitPreload(number(each), changed.get(task).origin()));
        if (!each.isAhead()) {
          numbers.remove(each.constant());
        }
      }
    }
  }

  private void addStarts(int task) {
    for (PlannedPreload each : preloads) {
      each.parts().stream()
          .filter(part -> part.task() == task)
          .forEach(part -> all.add(task(each, part)));
    }
  }

  private Task.Preload task(PlannedPreload preload, Part part) {
    Origin origin = changed.get(preload.to()).origin();
    return new Task.Preload(
        number(preload), preload.constant(), part.start(), part.bytes(), origin);
  }

  /** Returns the number of a preload, which is the least that isn't taken when it starts. */
  private int number(PlannedPreload preload) {
    return numbers.computeIfAbsent(
        preload.constant(), constant -> TransferNumbers.unused(numbers.values()));
  }
}
