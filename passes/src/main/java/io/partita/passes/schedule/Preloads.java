package io.partita.passes.schedule;

import io.partita.ir.function.Combine;
import io.partita.ir.message.Action;
import io.partita.ir.message.Actions;
import io.partita.ir.op.Communication;
import io.partita.ir.schedule.Direction;
import io.partita.ir.schedule.TiledKernel;
import io.partita.ir.target.ChipKind;
import io.partita.passes.schedule.PreloadPlan.Starts;
import io.partita.passes.schedule.PreloadPlan.Window;
import io.partita.passes.schedule.lower.TileSpace;
import io.partita.passes.schedule.place.Task;
import io.partita.passes.schedule.tile.LoopTime;
import io.partita.passes.schedule.tile.NearTiles;
import io.partita.passes.schedule.tile.PreloadRoom;
import io.partita.passes.schedule.tile.TileChoice;
import io.partita.passes.schedule.view.Region;
import io.partita.passes.schedule.view.Storage;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.IntStream;

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
  private final Map<Region, Integer> uses = new IdentityHashMap<>();
  private final PreloadPlan plan;

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
    this.plan = new PreloadPlan(tasks, ahead);
    for (Task task : tasks.tasks()) {
      task.used().forEach(region -> uses.merge(region, 1, Integer::sum));
      near.add(new TreeSet<>());
    }
    for (PlannedPreload each : ahead) {
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
    long starts = plan.planned().stream().mapToLong(preload -> preload.parts().size()).sum();
    return starts * chip.operandCycles() + waits;
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
        plan.uses(i, kernel.workingBytes());
        plan.hasTime(i, time(kernel));
      } else if (tasks.tasks().get(i) instanceof Task.BeginExchange begin) {
        plan.uses(i, workspace(begin.exchange()));
      } else if (tasks.tasks().get(i) instanceof Task.Exchange exchange) {
        plan.uses(i, workspace(exchange));
        plan.hasTime(i, time(exchange));
      }
    }
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
            .map(own -> plan.starts(end, task, constant, own.workingBytes()))
            .filter(starts -> starts.left() <= 0)
            .map(starts -> plan.of(starts, task, constant));
    moved.ifPresent(
        preload -> {
          plan.replace(preload);
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
    return !plan.isGuarded(task)
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
        || !plan.leavesPreloads(task, changed.get())) {
      return;
    }
    Region constant = loop.operands().get(operand).region();
    long own = changed.get().workingBytes();
    int first = Math.max(0, task - AHEAD);
    Starts starts = plan.starts(new Window(first, task - 1, false), task, constant, own);
    if (starts.left() > 0) {
      starts = plan.starts(new Window(first, task - 1, true), task, constant, own);
    }
    double wait = starts.left() > 0 ? preloadRoom.channel().cycles(starts.left(), 0) : 0;
    double now = LoopTime.of(kernel(loop, task), chip).cycles();
    double then = LoopTime.of(changed.get(), chip).cycles() + chip.operandCycles() + wait;
    if (!starts.tasks().isEmpty() && then < now) {
      plan.add(plan.of(starts, task, constant));
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

  /** Tiles may have other sizes now, also those of values that were near before. */
  private static boolean areNearTilesLines(TiledKernel kernel) {
    return IntStream.range(0, kernel.operands().size())
        .filter(operand -> kernel.operands().get(operand).isNear())
        .allMatch(operand -> NearTiles.areLines(kernel, operand, Integer.BYTES));
  }

  private ChipTasks changed() {
    List<Task> changed = new ArrayList<>(tasks.tasks());
    for (int i = 0; i < changed.size(); i++) {
      if (changed.get(i) instanceof Task.Loop loop) {
        changed.set(i, loop(loop, i));
      }
    }
    return PreloadedTasks.of(tasks, changed, plan.planned(), constantsTasks(), chip);
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
            .filter(task -> plan.room(task) >= bytes);
    return IntStream.concat(exchanges, IntStream.of(last))
        .filter(task -> isOnlyEntry && task >= 0 && !plan.isGuarded(task) && plan.mayStart(task))
        .boxed()
        .toList();
  }

  private Task.Loop loop(Task.Loop loop, int task) {
    int index = after.index(space(loop, near.get(task)), loop.origin().name());
    return new Task.Loop(
        index, after.kernels().get(index), loop.operands(), loop.origin(), loop.text());
  }
}
