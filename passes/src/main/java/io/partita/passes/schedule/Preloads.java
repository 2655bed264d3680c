package io.partita.passes.schedule;

import io.partita.ir.function.Combine;
import io.partita.ir.message.Action;
import io.partita.ir.message.Actions;
import io.partita.ir.op.Communication;
import io.partita.ir.schedule.Direction;
import io.partita.ir.schedule.ScheduleStep;
import io.partita.ir.schedule.TiledKernel;
import io.partita.ir.target.ChipKind;
import io.partita.passes.schedule.PlannedPreload.Part;
import io.partita.passes.schedule.lower.TileSpace;
import io.partita.passes.schedule.place.Task;
import io.partita.passes.schedule.tile.LoopTime;
import io.partita.passes.schedule.tile.NearTiles;
import io.partita.passes.schedule.tile.PreloadRoom;
import io.partita.passes.schedule.tile.TileChoice;
import io.partita.passes.schedule.view.Region;
import io.partita.passes.schedule.view.Storage;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * Copies weights to the working memory while earlier loops compute, so that their own loop neither
 * waits for its first tile nor transfers any.
 *
 * <p>A loop uses the first bytes of the working memory that is set aside for loops, mostly few of
 * them. Weights are copied whole, as far behind these bytes as there's room, for all tasks from the
 * start of the transfer to their loop. Transfers are served one after the other, so each loop
 * starts as many bytes as arrive while it computes its last tile, after its own, and each exchange
 * as many as arrive while it receives messages. Each loop in turn takes the parts before it that
 * are free, the latest first, if that makes it faster. Weights must stay in the home memory, so
 * none may be streamed through it.
 *
 * <p>The last steps of a run start what its first loops use, for the next run, if the program has
 * one entry point: nothing else uses the working memory between two runs then.
 */
final class Preloads {
  /** The most tasks before a loop that its weights may be under way. */
  private static final int AHEAD = 16;

  /**
   * The largest part of a weight takes one of these percentages of the bytes of loops, so that
   * another part can be under way while a loop uses one.
   */
  private static final List<Long> SHARES = List.of(50L, 40L, 30L);

  /** What exchanges have of the working memory, so that their transfers are few. */
  private static final long WORKSPACE = 64 << 10;

  private final ChipTasks tasks;
  private final LoopKernels before;
  private final LoopKernels after;
  private final ChipKind chip;
  private final PreloadRoom preloadRoom;
  private final boolean isOnlyEntry;
  private final boolean[] isGuarded;
  private final Map<Region, Integer> uses = new IdentityHashMap<>();
  private final List<PlannedPreload> found = new ArrayList<>();

  /** For each task: the bytes that it uses of the working memory, and those it has time to copy. */
  private final long[] used;

  private final long[] time;

  /** The cycles for which loops wait for preloads. */
  private double waits;

  /** Operands of loops that are preloaded, too. */
  private final List<Set<Integer>> near = new ArrayList<>();

  private Preloads(
      ChipTasks tasks,
      LoopKernels before,
      LoopKernels after,
      ChipKind chip,
      PreloadRoom preloadRoom,
      boolean isOnlyEntry,
      List<PlannedPreload> ahead) {
    this.tasks = tasks;
    this.before = before;
    this.after = after;
    this.chip = chip;
    this.preloadRoom = preloadRoom;
    this.isOnlyEntry = isOnlyEntry;
    int count = tasks.tasks().size();
    this.isGuarded = guarded(tasks.tasks());
    this.used = new long[count];
    this.time = new long[count];
    for (Task task : tasks.tasks()) {
      task.used().forEach(region -> uses.merge(region, 1, Integer::sum));
      near.add(new TreeSet<>());
    }
    for (PlannedPreload each : ahead) {
      found.add(each);
      near.get(each.to()).add(operand(each));
    }
  }

  private int operand(PlannedPreload preload) {
    List<Storage> operands = ((Task.Loop) tasks.tasks().get(preload.to())).operands();
    return IntStream.range(0, operands.size())
        .filter(operand -> operands.get(operand).region() == preload.constant())
        .findFirst()
        .orElseThrow();
  }

  /**
   * The tasks of a role with preloads.
   *
   * @param cycles what loops take, with the starts of preloads and the waits for them
   */
  record Result(RoleTasks tasks, double cycles) {}

  /** Returns the sizes of parts into which weights may be split, of which some are larger. */
  static List<Long> partSizes(RoleTasks role) {
    long largest =
        role.entries().stream()
            .flatMap(entry -> entry.tasks().stream())
            .filter(Task.Loop.class::isInstance)
            .flatMap(task -> task.used().stream())
            .filter(region -> region.kind() == Region.Kind.CONSTANT)
            .mapToLong(Region::bytes)
            .max()
            .orElse(0);
    long bytes = role.entries().getFirst().loopBytes();
    return SHARES.stream()
        .map(share -> bytes * share / 100)
        .filter(size -> size < largest)
        .toList();
  }

  /**
   * Adds preloads to the tasks of a role.
   *
   * @param rest chooses tiles within the bytes for loops
   */
  static Result add(RoleTasks role, ChipKind chip, TileChoice rest, PreloadRoom preloadRoom) {
    LoopKernels after = role.kernels().within(rest, role.entries().getFirst().loopBytes());
    List<ChipTasks> entries = new ArrayList<>();
    double own = 0;
    boolean isOnly = role.entries().size() == 1;
    for (ChipTasks tasks : role.entries()) {
      Preloads preloads =
          new Preloads(tasks, role.kernels(), after, chip, preloadRoom, isOnly, List.of());
      preloads.run();
      List<PlannedPreload> ahead = preloads.ahead();
      if (!ahead.isEmpty()) {
        preloads = new Preloads(tasks, role.kernels(), after, chip, preloadRoom, isOnly, ahead);
        preloads.run();
      }
      entries.add(preloads.changed());
      own += preloads.cycles();
    }
    RoleTasks result =
        new RoleTasks(entries.stream().map(each -> each.with(after.kernels())).toList(), after);
    return new Result(result, result.loopCycles(chip) + own);
  }

  /** Returns the cycles of starts and waits. */
  private double cycles() {
    long starts = found.stream().mapToLong(preload -> preload.parts().size()).sum();
    return starts * chip.operandCycles() + waits;
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

  private void run() {
    for (int i = 0; i < tasks.tasks().size(); i++) {
      if (tasks.tasks().get(i) instanceof Task.Loop loop) {
        for (int operand : largestFirst(loop)) {
          if (isCandidate(loop, i, operand)) {
            preload(loop, i, operand);
          }
        }
        TiledKernel kernel = kernel(loop, i);
        used[i] = kernel.workingBytes();
        time[i] = isGuarded[i] ? 0 : time(kernel);
      } else if (tasks.tasks().get(i) instanceof Task.BeginExchange begin) {
        used[i] = workspace(begin.exchange());
      } else if (tasks.tasks().get(i) instanceof Task.Exchange exchange) {
        used[i] = workspace(exchange);
        time[i] = isGuarded[i] ? 0 : time(exchange);
      }
    }
  }

  private Stream<Part> startedBy(int task) {
    return found.stream()
        .flatMap(preload -> preload.parts().stream())
        .filter(part -> part.task() == task);
  }

  /** Whether a task may start one more part. */
  private boolean mayStart(int task) {
    return startedBy(task).count() < ScheduleStep.Preload.MOST;
  }

  /**
   * Returns the bytes that a task could start beside the parts that it starts; 0 if few are left.
   */
  private long room(int task) {
    long left = time[task] - startedBy(task).mapToLong(Part::bytes).sum();
    return left < PreloadRoom.LEAST_BYTES || !mayStart(task) ? 0 : left;
  }

  /** Returns the weights of the first loops for which the last tasks have room. */
  private List<PlannedPreload> ahead() {
    List<PlannedPreload> ahead = new ArrayList<>();
    for (int i = 0; isOnlyEntry && i < Math.min(AHEAD, tasks.tasks().size()); i++) {
      if (tasks.tasks().get(i) instanceof Task.Loop loop) {
        for (int operand : largestFirst(loop)) {
          if (near.get(i).contains(operand) || isCandidate(loop, i, operand)) {
            Optional<PlannedPreload> moved = ahead(loop, i, operand);
            if (moved.isEmpty()) {
              return ahead;
            }
            ahead.add(moved.get());
          }
        }
      }
    }
    return ahead;
  }

  /** Has the last tasks preload an operand, if they have room for all of it. */
  private Optional<PlannedPreload> ahead(Task.Loop loop, int task, int operand) {
    Set<Integer> all = with(task, operand);
    Region constant = loop.operands().get(operand).region();
    Window end = new Window(task + 1, tasks.tasks().size() - 1, true);
    Optional<PlannedPreload> moved =
        kernel(loop, all)
            .filter(Preloads::areNearTilesLines)
            .filter(
                own -> LoopTime.of(own, chip).cycles() <= LoopTime.of(loop.kernel(), chip).cycles())
            .map(own -> starts(end, task, constant, own.workingBytes()))
            .filter(starts -> starts.left <= 0)
            .map(starts -> planned(starts, task, constant));
    moved.ifPresent(
        preload -> {
          found.removeIf(each -> each.constant() == constant);
          found.add(preload);
          near.set(task, all);
        });
    return moved;
  }

  private static List<Integer> largestFirst(Task.Loop loop) {
    return IntStream.range(0, loop.operands().size())
        .boxed()
        .sorted(Comparator.comparingLong(operand -> -loop.operands().get(operand).region().bytes()))
        .toList();
  }

  /**
   * Returns the bytes that can be transferred with the last tile of a loop, and until the next one
   * starts transfers of its own; 0 if they are few.
   */
  private long time(TiledKernel kernel) {
    double between = chip.loopCycles() + chip.operandCycles();
    double tile = LoopTime.of(kernel, chip).computeCycles() / kernel.tiles();
    return preloadRoom.during(tile + between);
  }

  private long time(Task.Exchange exchange) {
    return exchange.exchanges().stream()
        .map(Communication.Exchange::actions)
        .mapToLong(actions -> preloadRoom.during(actions, exchange.result().isPresent()))
        .min()
        .orElse(0);
  }

  /** Returns what an exchange can use: two of its tiles, or all that it copies. */
  private static long workspace(Task.Exchange exchange) {
    long copied =
        exchange.operand().isPresent() || exchange.result().isPresent()
            ? exchange.vector().region().bytes()
            : 0;
    long used =
        exchange.exchanges().stream()
            .flatMap(each -> each.actions().list().stream())
            .mapToLong(Preloads::workspace)
            .max()
            .orElse(0);
    return Math.clamp(Math.max(copied, used), PlannedPreload.ALIGNMENT, WORKSPACE);
  }

  private static long workspace(Action action) {
    return switch (action) {
      case Action.Joining joining when joining.message().combine() != Combine.REPLACE ->
          2L * (1 + joining.messages().size()) * Math.min(Actions.TILE, joining.message().bytes());
      case Action any -> any.message().isInPlace() ? 0 : any.message().bytes();
    };
  }

  private TileSpace space(Task.Loop loop, Set<Integer> preloaded) {
    return before.space(loop.index()).withNear(preloaded);
  }

  private TiledKernel kernel(Task.Loop loop, int task) {
    return kernel(loop, near.get(task)).orElse(loop.kernel());
  }

  private Optional<TiledKernel> kernel(Task.Loop loop, Set<Integer> preloaded) {
    return after.find(space(loop, preloaded));
  }

  private boolean isCandidate(Task.Loop loop, int task, int operand) {
    Storage storage = loop.operands().get(operand);
    TileSpace space = before.space(loop.index());
    TileSpace.Operand own = space.operands().get(operand);
    return !isGuarded[task]
        && !near.get(task).contains(operand)
        && own.direction() == Direction.LOAD
        && !own.isNear()
        && own.element().bits() >= Byte.SIZE
        && isWhole(storage)
        && storage.region().bytes() >= PreloadRoom.LEAST_WEIGHT
        && uses.get(storage.region()) == 1
        && NearTiles.isLine(space, operand);
  }

  /** Whether it covers a constant, in any order of its axes. */
  private static boolean isWhole(Storage storage) {
    return storage.region().kind() == Region.Kind.CONSTANT
        && storage.byteOffset() == 0
        && storage.element().packedBytes(storage.elements()) == storage.region().bytes();
  }

  /** Preloads an operand, if that makes its loop faster. */
  private void preload(Task.Loop loop, int task, int operand) {
    Set<Integer> all = with(task, operand);
    Optional<TiledKernel> changed = kernel(loop, all);
    if (changed.isEmpty()
        || !areNearTilesLines(changed.get())
        || !leavesPreloads(task, changed.get())) {
      return;
    }
    Region constant = loop.operands().get(operand).region();
    long own = changed.get().workingBytes();
    int first = Math.max(0, task - AHEAD);
    Starts starts = starts(new Window(first, task - 1, false), task, constant, own);
    if (starts.left > 0) {
      starts = starts(new Window(first, task - 1, true), task, constant, own);
    }
    double wait = starts.left > 0 ? preloadRoom.channel().cycles(starts.left, 0) : 0;
    double now = LoopTime.of(kernel(loop, task), chip).cycles();
    double then = LoopTime.of(changed.get(), chip).cycles() + chip.operandCycles() + wait;
    if (!starts.tasks.isEmpty() && then < now) {
      found.add(planned(starts, task, constant));
      near.set(task, all);
      waits += wait;
    }
  }

  /** Returns the operands of a loop that are preloaded with one more. */
  private Set<Integer> with(int task, int operand) {
    Set<Integer> all = new TreeSet<>(near.get(task));
    all.add(operand);
    return all;
  }

  private PlannedPreload planned(Starts starts, int to, Region constant) {
    List<Part> parts = parts(starts.tasks, constant.bytes());
    return new PlannedPreload(parts, to, constant, starts.offset.getAsLong());
  }

  /**
   * Tasks that may start the parts of a preload.
   *
   * @param withExchanges whether exchanges start parts, too: they and the DMA slow each other down
   */
  private record Window(int first, int last, boolean withExchanges) {}

  /**
   * The tasks that could start the parts of a preload.
   *
   * @param left the bytes for which they have no room
   * @param offset of a place that is free from the first of them on; empty if there is none
   */
  private record Starts(List<Integer> tasks, long left, OptionalLong offset) {}

  /**
   * Finds the latest tasks that have room together.
   *
   * @param own the bytes that the loop uses beside the constant
   */
  private Starts starts(Window window, int to, Region constant, long own) {
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

  /** Tiles may have other sizes now, also those of values that were near before. */
  private static boolean areNearTilesLines(TiledKernel kernel) {
    return IntStream.range(0, kernel.operands().size())
        .filter(operand -> kernel.operands().get(operand).isNear())
        .allMatch(operand -> NearTiles.areLines(kernel, operand, Integer.BYTES));
  }

  /** Whether tiles, which may be larger now, still end before what is preloaded for their loop. */
  private boolean leavesPreloads(int task, TiledKernel kernel) {
    return found.stream()
        .filter(each -> each.to() == task)
        .allMatch(each -> kernel.workingBytes() <= each.offset());
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
        found.stream()
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

  private ChipTasks changed() {
    List<Task> changed = new ArrayList<>(tasks.tasks());
    for (int i = 0; i < changed.size(); i++) {
      if (changed.get(i) instanceof Task.Loop loop) {
        changed.set(i, loop(loop, i));
      }
    }
    return PreloadedTasks.of(tasks, changed, found, constantsTasks(), chip);
  }

  /**
   * Returns the tasks that may start the copy of small constants for the next run: the last
   * exchange, if it has room for all, since the next run begins with a wait for them, and the last
   * task.
   */
  private List<Integer> constantsTasks() {
    int last = tasks.tasks().size() - 1;
    long bytes = tasks.smallConstants().map(Task.Preload::bytes).orElse(0L);
    IntStream exchanges =
        IntStream.iterate(last, task -> task >= 0, task -> task - 1)
            .filter(task -> tasks.tasks().get(task) instanceof Task.Exchange)
            .limit(1)
            .filter(task -> room(task) >= bytes);
    return IntStream.concat(exchanges, IntStream.of(last))
        .filter(task -> isOnlyEntry && task >= 0 && !isGuarded[task] && mayStart(task))
        .boxed()
        .toList();
  }

  private Task.Loop loop(Task.Loop loop, int task) {
    int index = after.index(space(loop, near.get(task)), loop.origin().name());
    return new Task.Loop(
        index, after.kernels().get(index), loop.operands(), loop.origin(), loop.text());
  }
}
