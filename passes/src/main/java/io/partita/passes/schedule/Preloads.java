package io.partita.passes.schedule;

import io.partita.ir.function.Combine;
import io.partita.ir.graph.Origin;
import io.partita.ir.message.Action;
import io.partita.ir.message.Actions;
import io.partita.ir.op.Communication;
import io.partita.ir.schedule.Direction;
import io.partita.ir.schedule.ScheduleStep;
import io.partita.ir.schedule.TiledKernel;
import io.partita.ir.target.ChipKind;
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
import java.util.Collection;
import java.util.Comparator;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
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

  private static final long ALIGNMENT = 16;

  private final ChipTasks tasks;
  private final LoopKernels before;
  private final LoopKernels after;
  private final ChipKind chip;
  private final PreloadRoom preloadRoom;
  private final boolean isOnlyEntry;
  private final boolean[] isGuarded;
  private final Map<Region, Integer> uses = new IdentityHashMap<>();
  private final List<Preload> found = new ArrayList<>();

  /** For each task: what it uses of the working memory, and how many bytes it can preload. */
  private final long[] used;

  private final long[] room;

  /** For each task: how many parts it starts. */
  private final int[] started;

  /** The cycles for which loops wait for preloads. */
  private double waits;

  /** Operands of loops that are preloaded, too. */
  private final List<Set<Integer>> near = new ArrayList<>();

  /**
   * A preload.
   *
   * @param parts in the order of their bytes
   * @param to the loop that uses it
   */
  private record Preload(List<Part> parts, int to, Region constant, long offset) {
    int from() {
      return parts.getFirst().task;
    }

    /** Whether the run before starts it. */
    boolean isAhead() {
      return from() > to;
    }

    boolean meets(int first, int last) {
      return isAhead() ? first <= to || from() <= last : from() <= last && first <= to;
    }

    long end() {
      return offset + aligned(constant.bytes());
    }
  }

  /** Bytes whose transfer a task starts. */
  private record Part(int task, long start, long bytes) {}

  private Preloads(
      ChipTasks tasks,
      LoopKernels before,
      LoopKernels after,
      ChipKind chip,
      PreloadRoom preloadRoom,
      boolean isOnlyEntry,
      List<Preload> ahead) {
    this.tasks = tasks;
    this.before = before;
    this.after = after;
    this.chip = chip;
    this.preloadRoom = preloadRoom;
    this.isOnlyEntry = isOnlyEntry;
    int count = tasks.tasks().size();
    this.isGuarded = guarded(tasks.tasks());
    this.used = new long[count];
    this.room = new long[count];
    this.started = new int[count];
    for (Task task : tasks.tasks()) {
      task.used().forEach(region -> uses.merge(region, 1, Integer::sum));
      near.add(new TreeSet<>());
    }
    for (Preload each : ahead) {
      found.add(each);
      each.parts.forEach(part -> started[part.task]++);
      near.get(each.to).add(operand(each));
    }
  }

  private int operand(Preload preload) {
    List<Storage> operands = ((Task.Loop) tasks.tasks().get(preload.to)).operands();
    return IntStream.range(0, operands.size())
        .filter(operand -> operands.get(operand).region() == preload.constant)
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
      List<Preload> ahead = preloads.ahead();
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
    long starts = found.stream().mapToLong(preload -> preload.parts.size()).sum();
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
        room[i] = isGuarded[i] ? 0 : room(i, room(kernel));
      } else if (tasks.tasks().get(i) instanceof Task.BeginExchange) {
        used[i] = WORKSPACE;
      } else if (tasks.tasks().get(i) instanceof Task.Exchange exchange) {
        used[i] = workspace(exchange);
        room[i] = isGuarded[i] ? 0 : room(i, room(exchange));
      }
    }
  }

  /** Returns what is left of a task's room. */
  private long room(int task, long bytes) {
    long taken =
        found.stream()
            .flatMap(preload -> preload.parts.stream())
            .filter(part -> part.task == task)
            .mapToLong(Part::bytes)
            .sum();
    return enough(bytes - taken);
  }

  private static long enough(long bytes) {
    return bytes < PreloadRoom.LEAST_BYTES ? 0 : bytes;
  }

  /** Returns the weights of the first loops for which the last tasks have room. */
  private List<Preload> ahead() {
    List<Preload> ahead = new ArrayList<>();
    for (int i = 0; isOnlyEntry && i < Math.min(AHEAD, tasks.tasks().size()); i++) {
      if (tasks.tasks().get(i) instanceof Task.Loop loop) {
        for (int operand : largestFirst(loop)) {
          if (near.get(i).contains(operand) || isCandidate(loop, i, operand)) {
            Optional<Preload> moved = ahead(loop, i, operand);
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
  private Optional<Preload> ahead(Task.Loop loop, int task, int operand) {
    Set<Integer> all = new TreeSet<>(near.get(task));
    all.add(operand);
    Optional<TiledKernel> kernel = kernel(loop, all).filter(Preloads::areNearTilesLines);
    Region constant = loop.operands().get(operand).region();
    List<Preload> others = found.stream().filter(each -> each.constant != constant).toList();
    Optional<Preload> moved =
        kernel
            .filter(
                own -> LoopTime.of(own, chip).cycles() <= LoopTime.of(loop.kernel(), chip).cycles())
            .flatMap(own -> ahead(constant, task, own.workingBytes(), others));
    moved.ifPresent(
        preload -> {
          found.removeIf(each -> each.constant == constant);
          found.add(preload);
          near.set(task, all);
        });
    return moved;
  }

  /** Returns a preload that the last tasks start, whole, behind the preloads of their loops. */
  private Optional<Preload> ahead(Region constant, int to, long inLoop, List<Preload> others) {
    long bytes = constant.bytes();
    List<Integer> starting = new ArrayList<>();
    long left = bytes;
    for (int from = tasks.tasks().size() - 1; from > to && left > 0; from--) {
      OptionalLong place = place(from, to, bytes, inLoop, others);
      if (isGuarded[from] || place.isEmpty()) {
        return Optional.empty();
      }
      if (room[from] > 0 && started[from] < ScheduleStep.Preload.MOST) {
        starting.addFirst(from);
        left -= room[from];
        if (left <= 0) {
          return Optional.of(new Preload(parts(starting, bytes), to, constant, place.getAsLong()));
        }
      }
    }
    return Optional.empty();
  }

  private static List<Integer> largestFirst(Task.Loop loop) {
    return IntStream.range(0, loop.operands().size())
        .boxed()
        .sorted(Comparator.comparingLong(operand -> -loop.operands().get(operand).region().bytes()))
        .toList();
  }

  /** Returns the bytes that can be transferred with the last tile of a loop; 0 if they are few. */
  private long room(TiledKernel kernel) {
    return preloadRoom.during(LoopTime.of(kernel, chip).computeCycles() / kernel.tiles());
  }

  private long room(Task.Exchange exchange) {
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
    return Math.clamp(Math.max(copied, used), ALIGNMENT, WORKSPACE);
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
        && storage.region().bytes() >= PreloadRoom.LEAST_BYTES
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
    Set<Integer> all = new TreeSet<>(near.get(task));
    all.add(operand);
    Optional<TiledKernel> changed = kernel(loop, all);
    if (changed.isEmpty()
        || !areNearTilesLines(changed.get())
        || !leavesPreloads(task, changed.get())) {
      return;
    }
    Region constant = loop.operands().get(operand).region();
    long own = changed.get().workingBytes();
    Starts starts = starts(task, constant, own, false);
    if (starts.left > 0) {
      starts = starts(task, constant, own, true);
    }
    double wait = starts.left > 0 ? preloadRoom.channel().cycles(starts.left, 0) : 0;
    double now = LoopTime.of(kernel(loop, task), chip).cycles();
    double then = LoopTime.of(changed.get(), chip).cycles() + chip.operandCycles() + wait;
    if (!starts.tasks.isEmpty() && then < now) {
      List<Part> parts = parts(starts.tasks, constant.bytes());
      found.add(new Preload(parts, task, constant, starts.offset.getAsLong()));
      near.set(task, all);
      waits += wait;
    }
  }

  /**
   * The tasks that could start the parts of a preload.
   *
   * @param left the bytes for which they have no room
   * @param offset of a place that is free from the first of them on; empty if there is none
   */
  private record Starts(List<Integer> tasks, long left, OptionalLong offset) {}

  /**
   * @param own the bytes that the loop uses beside the constant
   * @param duringExchanges whether exchanges start parts, too: they and the DMA slow each other
   *     down
   */
  private Starts starts(int task, Region constant, long own, boolean duringExchanges) {
    List<Integer> starting = new ArrayList<>();
    long left = constant.bytes();
    OptionalLong offset = OptionalLong.empty();
    for (int from = task - 1; from >= Math.max(0, task - AHEAD) && left > 0; from--) {
      OptionalLong place = place(from, task, constant.bytes(), own, found);
      if (isGuarded[from] || place.isEmpty()) {
        break;
      }
      boolean isExchange = tasks.tasks().get(from) instanceof Task.Exchange;
      if (room[from] > 0
          && started[from] < ScheduleStep.Preload.MOST
          && (duringExchanges || !isExchange)) {
        starting.addFirst(from);
        left -= room[from];
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
        .filter(each -> each.to == task)
        .allMatch(each -> kernel.workingBytes() <= each.offset);
  }

  /**
   * Divides bytes among tasks, and takes the room for them: the first ones start as many as they
   * can, since later ones may have room for other weights, and the last one starts the rest.
   */
  private List<Part> parts(List<Integer> starting, long bytes) {
    List<Part> parts = new ArrayList<>();
    long start = 0;
    for (int i = 0; i < starting.size() && start < bytes; i++) {
      int task = starting.get(i);
      boolean isLast = i == starting.size() - 1;
      long own = isLast ? bytes - start : Math.min(bytes - start, room[task]);
      parts.add(new Part(task, start, own));
      started[task]++;
      room[task] = enough(room[task] - own);
      start += own;
    }
    return parts;
  }

  /**
   * Returns the highest offset that is free for all tasks from one to another, which is of the next
   * run if it's before the first.
   *
   * @param own the bytes that the last task uses beside them
   * @param all the other preloads
   */
  private OptionalLong place(int from, int to, long bytes, long own, List<Preload> all) {
    boolean isAhead = from > to;
    long least = own;
    for (int task = 0; task < used.length; task++) {
      if (isAhead ? task < to || from <= task : from <= task && task < to) {
        least = Math.max(least, used[task]);
      }
    }
    int last = used.length - 1;
    List<Preload> others =
        all.stream()
            .filter(
                each ->
                    isAhead ? each.meets(0, to) || each.meets(from, last) : each.meets(from, to))
            .sorted(Comparator.comparingLong(Preload::end).reversed())
            .toList();
    long size = aligned(bytes);
    long end = tasks.loopBytes() / ALIGNMENT * ALIGNMENT;
    for (Preload other : others) {
      if (other.end() <= end - size) {
        break;
      }
      end = Math.min(end, other.offset);
    }
    return end - size >= aligned(least) ? OptionalLong.of(end - size) : OptionalLong.empty();
  }

  private static long aligned(long bytes) {
    return Math.ceilDiv(bytes, ALIGNMENT) * ALIGNMENT;
  }

  private ChipTasks changed() {
    List<Task> all = new ArrayList<>();
    List<Task.Preload> early = new ArrayList<>();
    int[] places = new int[tasks.tasks().size()];
    Map<Region, Long> offsets = new IdentityHashMap<>(tasks.near());
    Map<Region, Integer> numbers = new IdentityHashMap<>();
    // The number 0 is that of small constants.
    Map<Region, Integer> reserved = new IdentityHashMap<>();
    for (Preload each : found) {
      offsets.put(each.constant, each.offset);
      if (each.isAhead()) {
        int number = 1 + reserved.size();
        reserved.put(each.constant, number);
        each.parts.forEach(part -> early.add(task(each, part, number)));
      }
    }
    Optional<Task.Preload> constants = smallConstants().filter(this::isFreeAtTheEnd);
    constants.ifPresent(early::add);
    for (int i = 0; i < places.length; i++) {
      Task own = tasks.tasks().get(i);
      if (awaitsOnly(i)) {
        addStarts(i, numbers, reserved, all);
        addWaits(i, numbers, reserved, all);
      } else {
        addWaits(i, numbers, reserved, all);
        addStarts(i, numbers, reserved, all);
      }
      if (i == places.length - 1) {
        constants.ifPresent(all::add);
      }
      places[i] = all.size();
      if (constants.isEmpty() || own != constants.get()) {
        all.add(own instanceof Task.Loop loop ? loop(loop, i) : own);
      }
    }
    return tasks.with(all, places, offsets, early);
  }

  /** Returns the copy of small constants with which a run begins. */
  private Optional<Task.Preload> smallConstants() {
    return tasks.tasks().stream()
        .limit(1)
        .filter(Task.Preload.class::isInstance)
        .map(Task.Preload.class::cast)
        .findFirst();
  }

  /** Whether the last task leaves the bytes alone that a preload writes, and can start it. */
  private boolean isFreeAtTheEnd(Task.Preload copy) {
    long from = tasks.near().get(copy.constant());
    long to = from + copy.bytes();
    int last = tasks.tasks().size() - 1;
    return isOnlyEntry
        && last > 0
        && !isGuarded[last]
        && started[last] < ScheduleStep.Preload.MOST
        && tasks.tasks().get(last).used().stream()
            .filter(tasks.near()::containsKey)
            .noneMatch(
                region ->
                    tasks.near().get(region) < to
                        && from < tasks.near().get(region) + region.bytes());
  }

  private Task.Preload task(Preload preload, Part part, int number) {
    Origin origin = tasks.tasks().get(preload.to).origin();
    return new Task.Preload(number, preload.constant, part.start, part.bytes, origin);
  }

  /**
   * Whether a loop waits for preloads and has no other transfers before its result. It doesn't
   * start one itself then, which follows the one it waits for without a gap.
   */
  private boolean awaitsOnly(int task) {
    return tasks.tasks().get(task) instanceof Task.Loop loop
        && !near.get(task).isEmpty()
        && LoopTime.of(kernel(loop, task), chip).loadedBytes() == 0;
  }

  private void addWaits(
      int task, Map<Region, Integer> numbers, Map<Region, Integer> reserved, List<Task> all) {
    for (Preload each : found) {
      if (each.to == task) {
        int number = each.isAhead() ? reserved.get(each.constant) : numbers.remove(each.constant);
        all.add(new Task.AwaitPreload(number, tasks.tasks().get(task).origin()));
      }
    }
  }

  private void addStarts(
      int task, Map<Region, Integer> numbers, Map<Region, Integer> reserved, List<Task> all) {
    for (Preload each : found) {
      for (Part part : each.parts) {
        if (part.task == task) {
          int number =
              each.isAhead()
                  ? reserved.get(each.constant)
                  : numbers.computeIfAbsent(
                      each.constant, key -> unused(numbers.values(), reserved.values()));
          all.add(task(each, part, number));
        }
      }
    }
  }

  private static int unused(Collection<Integer> taken, Collection<Integer> reserved) {
    int number = 0;
    while (taken.contains(number) || reserved.contains(number)) {
      number++;
    }
    return number;
  }

  private Task.Loop loop(Task.Loop loop, int task) {
    int index = after.index(space(loop, near.get(task)), loop.origin().name());
    return new Task.Loop(
        index, after.kernels().get(index), loop.operands(), loop.origin(), loop.text());
  }
}
