package io.partita.passes.schedule;

import io.partita.ir.schedule.ScheduleStep;
import io.partita.ir.schedule.TiledKernel;
import io.partita.passes.schedule.PlannedPreload.Part;
import io.partita.passes.schedule.place.Task;
import io.partita.passes.schedule.tile.PreloadRoom;
import io.partita.passes.schedule.view.Region;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.OptionalLong;
import java.util.stream.Stream;

/** The preloads of an entry point, between which tasks use the working memory and have time. */
final class PreloadPlan {
  private final ChipTasks tasks;
  private final boolean[] isGuarded;
  private final List<PlannedPreload> planned = new ArrayList<>();

  /** For each task: the bytes that it uses of the working memory, and those it has time to copy. */
  private final long[] used;

  private final long[] time;

  /**
   * @param ahead preloads that the run before starts
   */
  PreloadPlan(ChipTasks tasks, List<PlannedPreload> ahead) {
    this.tasks = tasks;
    this.isGuarded = guarded(tasks.tasks());
    this.used = new long[tasks.tasks().size()];
    this.time = new long[tasks.tasks().size()];
    planned.addAll(ahead);
  }

  private static boolean[] guarded(List<Task> tasks) {
    boolean[] guarded = new boolean[tasks.size()];
    for (int i = 0; i < tasks.size(); i++) {
      if (tasks.get(i) instanceof Task.Guard guard) {
        Arrays.fill(guarded, i, i + 1 + guard.tasks(), true);
      }
    }
    return guarded;
  }

  /** Whether a task is skipped in some runs, so that it starts no preloads. */
  boolean isGuarded(int task) {
    return isGuarded[task];
  }

  /** Records the bytes that a task uses of the working memory. */
  void uses(int task, long bytes) {
    used[task] = bytes;
  }

  /** Records the bytes that a task has time to copy, unless it may be skipped. */
  void hasTime(int task, long bytes) {
    time[task] = isGuarded[task] ? 0 : bytes;
  }

  List<PlannedPreload> planned() {
    return planned;
  }

  void add(PlannedPreload preload) {
    planned.add(preload);
  }

  /** Adds a preload instead of those of the same constant. */
  void replace(PlannedPreload preload) {
    planned.removeIf(each -> each.constant() == preload.constant());
    planned.add(preload);
  }

  private Stream<Part> startedBy(int task) {
    return planned.stream()
        .flatMap(preload -> preload.parts().stream())
        .filter(part -> part.task() == task);
  }

  /** Whether a task may start one more part. */
  boolean mayStart(int task) {
    return startedBy(task).count() < ScheduleStep.Preload.MOST;
  }

  /**
   * Returns the bytes that a task could start beside the parts that it starts; 0 if few are left.
   */
  long room(int task) {
    long left = time[task] - startedBy(task).mapToLong(Part::bytes).sum();
    return left < PreloadRoom.LEAST_BYTES || !mayStart(task) ? 0 : left;
  }

  /** Whether tiles, which may be larger now, still end before what is preloaded for their loop. */
  boolean leavesPreloads(int task, TiledKernel kernel) {
    return planned.stream()
        .filter(each -> each.to() == task)
        .allMatch(each -> kernel.workingBytes() <= each.offset());
  }

  /**
   * Tasks that may start the parts of a preload.
   *
   * @param withExchanges whether exchanges start parts, too: they and the DMA slow each other down
   */
  record Window(int first, int last, boolean withExchanges) {}

  /**
   * The tasks that could start the parts of a preload.
   *
   * @param left the bytes for which they have no room
   * @param offset of a place that is free from the first of them on; empty if there is none
   */
  record Starts(List<Integer> tasks, long left, OptionalLong offset) {}

  /**
   * Finds the latest tasks that have room together.
   *
   * @param own the bytes that the loop uses beside the constant
   */
  Starts starts(Window window, int to, Region constant, long own) {
    List<Integer> starting = new ArrayList<>();
    long left = constant.bytes();
    OptionalLong offset = OptionalLong.empty();
    for (int from = window.last; from >= window.first && left > 0; from--) {
      OptionalLong place = place(from, to, constant, own);
      if (isGuarded[from] || place.isEmpty()) {
        break;
      }
      boolean isExchange = tasks.tasks().get(from) instanceof Task.Exchange;
      if (room(from) > 0 && (window.withExchanges || !isExchange)) {
        starting.addFirst(from);
        left -= room(from);
        offset = place;
      }
    }
    return new Starts(starting, left, offset);
  }

  /** Returns a preload that tasks start, of which there is at least one. */
  PlannedPreload of(Starts starts, int to, Region constant) {
    List<Part> parts = parts(starts.tasks, constant.bytes());
    return new PlannedPreload(parts, to, constant, starts.offset.getAsLong());
  }

  /**
   * Divides bytes among tasks: the first ones start as many as they can, since later ones may have
   * room for other weights, and the last one starts the rest.
   */
  private List<Part> parts(List<Integer> starting, long bytes) {
    List<Part> parts = new ArrayList<>();
    long start = 0;
    for (int i = 0; i < starting.size() && start < bytes; i++) {
      int task = starting.get(i);
      boolean isLast = i == starting.size() - 1;
      long own = isLast ? bytes - start : Math.min(bytes - start, room(task));
      parts.add(new Part(task, start, own));
      start += own;
    }
    return parts;
  }

  /**
   * Returns the highest offset that is free for all tasks from one to another, which is of the next
   * run if it's before the first.
   *
   * @param own the bytes that the last task uses beside the constant
   */
  private OptionalLong place(int from, int to, Region constant, long own) {
    long size = PlannedPreload.aligned(constant.bytes());
    PlannedPreload any =
        new PlannedPreload(List.of(new Part(from, 0, constant.bytes())), to, constant, 0);
    long least = own;
    for (int task = 0; task < used.length; task++) {
      if (task != to && any.isAt(task)) {
        least = Math.max(least, used[task]);
      }
    }
    List<PlannedPreload> others =
        planned.stream()
            .filter(each -> each.constant() != constant && each.meets(any))
            .sorted(Comparator.comparingLong(PlannedPreload::end).reversed())
            .toList();
    long end = tasks.loopBytes() / PlannedPreload.ALIGNMENT * PlannedPreload.ALIGNMENT;
    for (PlannedPreload other : others) {
      if (other.end() <= end - size) {
        break;
      }
      end = Math.min(end, other.offset());
    }
    return end - size >= PlannedPreload.aligned(least)
        ? OptionalLong.of(end - size)
        : OptionalLong.empty();
  }
}
