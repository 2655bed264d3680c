package io.partita.passes.schedule;

import io.partita.ir.graph.Origin;
import io.partita.ir.schedule.Direction;
import io.partita.ir.schedule.TiledKernel;
import io.partita.ir.schedule.kernel.Argument;
import io.partita.ir.schedule.kernel.KernelCall;
import io.partita.ir.target.ChipKind;
import io.partita.ir.target.Memory;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.TensorType;
import io.partita.passes.schedule.lower.TileSpace;
import io.partita.passes.schedule.place.Task;
import io.partita.passes.schedule.tile.NearTiles;
import io.partita.passes.schedule.tile.PreloadRoom;
import io.partita.passes.schedule.tile.TileChoice;
import io.partita.passes.schedule.view.Region;
import io.partita.passes.schedule.view.Storage;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

/**
 * Keeps small values in the working memory from the loop that computes them to the last one that
 * reads them, so that they aren't copied to the home memory and back.
 *
 * <p>A part of the working memory is set aside for such values; loops use the rest. A value
 * qualifies if only loops use it and each of its tiles is one line. Values get places in the order
 * in which they are computed; those without room stay in the home memory. Small constants are
 * copied there together by one transfer when a run begins. If loops get slower by more than is
 * saved, nothing is kept.
 */
final class NearValues {
  /** The part of the working memory that is set aside. */
  private static final long SHARE = 8;

  /** The alignment of values, and of tiles in them. */
  private static final long ALIGNMENT = 16;

  private static final long TILE_ALIGNMENT = 4;

  /** The largest alignment of a constant. */
  private static final long WORD = Integer.BYTES;

  /** The bytes of the largest constant that is kept. */
  private static final long LARGEST_CONSTANT = 2048;

  /** The part of the set-aside memory that constants may take. */
  private static final long CONSTANTS = 2;

  /** The values of the largest bytes that have room together. */
  private static final long TOGETHER = 4;

  private final List<ChipTasks> entries;
  private final LoopKernels kernels;
  private final ChipKind chip;
  private final TileChoice rest;
  private final long loopBytes;
  private final long workingBytes;

  /** Values with tiles that aren't lines. */
  private final Set<Region> refused = Collections.newSetFromMap(new IdentityHashMap<>());

  private NearValues(
      List<ChipTasks> entries,
      LoopKernels kernels,
      ChipKind chip,
      TileChoice rest,
      long workingBytes) {
    this.entries = entries;
    this.kernels = kernels;
    this.chip = chip;
    this.rest = rest;
    this.workingBytes = workingBytes;
    this.loopBytes = loopBytes(workingBytes);
  }

  /** Returns the bytes of the working memory that loops use beside near values. */
  static long loopBytes(long workingBytes) {
    return (workingBytes - workingBytes / SHARE) / ALIGNMENT * ALIGNMENT;
  }

  /** Returns the bytes of values, several of which have room together; 0 if none is kept. */
  static long largestBytes(ChipKind chip, long workingBytes) {
    return chip.working().scope() == Memory.Scope.CORE
        ? 0
        : (workingBytes - loopBytes(workingBytes)) / TOGETHER;
  }

  /**
   * @param rest chooses tiles within {@link #loopBytes}
   */
  static RoleTasks keep(RoleTasks role, ChipKind chip, TileChoice rest, long workingBytes) {
    return chip.working().scope() == Memory.Scope.CORE
        ? role
        : new NearValues(role.entries(), role.kernels(), chip, rest, workingBytes).keep();
  }

  private RoleTasks keep() {
    RoleTasks unchanged = new RoleTasks(entries, kernels);
    while (true) {
      int before = refused.size();
      List<Kept> places = entries.stream().map(this::places).toList();
      if (places.stream().allMatch(kept -> kept.offsets.isEmpty())) {
        return unchanged;
      }
      Optional<RoleTasks> kept = loops(places);
      if (kept.isEmpty()) {
        return unchanged;
      }
      if (refused.size() == before) {
        double cycles = kept.get().loopCycles(chip) + copyCycles(places);
        return cycles < unchanged.loopCycles(chip) ? kept.get() : unchanged;
      }
    }
  }

  /** The tasks that use a region. */
  private static final class Use {
    private final int first;
    private int last;
    private boolean isKept = true;

    Use(int first) {
      this.first = first;
    }
  }

  /**
   * The values that an entry point keeps.
   *
   * @param offsets their offsets in the working memory
   * @param constants the constants among them
   */
  private record Kept(Map<Region, Long> offsets, List<Region> constants) {}

  private Kept places(ChipTasks tasks) {
    Map<Region, Use> uses = uses(tasks);
    List<Region> inOrder =
        uses.keySet().stream()
            .filter(region -> uses.get(region).isKept)
            .sorted(Comparator.comparingInt(region -> uses.get(region).first))
            .toList();
    Map<Region, Long> places = new LinkedHashMap<>();
    List<Region> constants = constants(withoutLast(inOrder, uses, tasks.tasks().size() - 1));
    long end = loopBytes;
    for (Region constant : constants) {
      places.put(constant, end);
      end += constant.bytes();
    }
    long start = aligned(end);
    List<Region> alive = new ArrayList<>();
    for (Region region : inOrder) {
      if (region.kind() == Region.Kind.CONSTANT) {
        continue;
      }
      alive.removeIf(other -> uses.get(other).last < uses.get(region).first);
      long offset = gap(start, alive, places, aligned(region.bytes()));
      if (offset + aligned(region.bytes()) <= workingBytes) {
        places.put(region, offset);
        alive.add(region);
      }
    }
    return new Kept(places, constants);
  }

  /**
   * Leaves out what the last task alone reads, if that is all that it reads of the constants: then
   * it leaves their bytes alone, so the others can be copied for the next run meanwhile. Those that
   * are left out have the {@linkplain PreloadRoom#LEAST_WEIGHT bytes} for which {@link Preloads}
   * copies them by themselves.
   */
  private List<Region> withoutLast(List<Region> inOrder, Map<Region, Use> uses, int last) {
    Map<Boolean, List<Region>> constants =
        inOrder.stream()
            .filter(region -> region.kind() == Region.Kind.CONSTANT)
            .collect(Collectors.partitioningBy(region -> uses.get(region).last == last));
    boolean mayLeaveOut =
        entries.size() == 1
            && !constants.get(false).isEmpty()
            && constants.get(true).stream()
                .allMatch(
                    region ->
                        uses.get(region).first == last
                            && region.bytes() >= PreloadRoom.LEAST_WEIGHT);
    return mayLeaveOut
        ? inOrder.stream().filter(region -> !constants.get(true).contains(region)).toList()
        : inOrder;
  }

  /**
   * Returns the constants to keep, the smallest ones if there isn't room for all, in an order in
   * which all are aligned.
   */
  private List<Region> constants(List<Region> inOrder) {
    List<Region> bySize =
        inOrder.stream()
            .filter(region -> region.kind() == Region.Kind.CONSTANT)
            .sorted(Comparator.comparingLong(Region::bytes))
            .toList();
    long left = (workingBytes - loopBytes) / CONSTANTS;
    List<Region> kept = new ArrayList<>();
    for (Region region : bySize) {
      left -= region.bytes();
      if (left >= 0) {
        kept.add(region);
      }
    }
    kept.sort(Comparator.comparingLong(region -> -Long.lowestOneBit(region.bytes() | WORD)));
    return kept;
  }

  /** Returns the lowest offset from {@code start} on at which there is room. */
  private static long gap(long start, List<Region> alive, Map<Region, Long> places, long bytes) {
    long offset = start;
    for (Region other : alive.stream().sorted(Comparator.comparing(places::get)).toList()) {
      if (offset + bytes <= places.get(other)) {
        return offset;
      }
      offset = Math.max(offset, places.get(other) + aligned(other.bytes()));
    }
    return offset;
  }

  private static long aligned(long bytes) {
    return Math.ceilDiv(bytes, ALIGNMENT) * ALIGNMENT;
  }

  /** Returns the uses of all regions, in the order of the first. */
  private Map<Region, Use> uses(ChipTasks tasks) {
    Map<Region, Use> uses = new LinkedHashMap<>();
    for (int i = 0; i < tasks.tasks().size(); i++) {
      int number = i;
      Task task = tasks.tasks().get(i);
      for (Region region : task.used()) {
        Use use = uses.computeIfAbsent(region, each -> new Use(number));
        use.last = i;
        use.isKept &= isCandidate(region) && task instanceof Task.Loop;
      }
      if (task instanceof Task.Loop loop) {
        exclude(loop, uses);
      }
    }
    for (List<ChipTasks.Named> ports : List.of(tasks.inputs(), tasks.outputs(), tasks.states())) {
      for (ChipTasks.Named port : ports) {
        if (uses.containsKey(port.region())) {
          uses.get(port.region()).isKept = false;
        }
      }
    }
    return uses;
  }

  private boolean isCandidate(Region region) {
    boolean isSmall =
        switch (region.kind()) {
          case ACTIVATION -> region.bytes() > 0;
          case CONSTANT -> isSmall(region);
          case STATE -> false;
        };
    return isSmall && !refused.contains(region);
  }

  private static boolean isSmall(Region constant) {
    return isSmall(constant.tensors().getFirst());
  }

  /** Whether a constant is kept if there is room and its tiles are lines. */
  static boolean isSmall(Tensor constant) {
    TensorType type = constant.type();
    return type.bytes() <= LARGEST_CONSTANT && type.element().bits() <= Integer.SIZE;
  }

  /** Excludes operands that aren't lines, and values that a kernel can't overwrite. */
  private void exclude(Task.Loop loop, Map<Region, Use> uses) {
    TileSpace space = kernels.space(loop.index());
    Set<Region> read = Collections.newSetFromMap(new IdentityHashMap<>());
    for (int i = 0; i < loop.operands().size(); i++) {
      Storage storage = loop.operands().get(i);
      TileSpace.Operand operand = space.operands().get(i);
      boolean isLine =
          operand.direction() != Direction.SCALAR
              && operand.element().bits() >= Byte.SIZE
              && storage.byteOffset() % TILE_ALIGNMENT == 0
              && NearTiles.isLine(space, i);
      uses.get(storage.region()).isKept &= isLine;
      if (operand.direction() == Direction.LOAD && !mayBeOverwritten(space, i)) {
        read.add(storage.region());
      }
    }
    for (int i = 0; i < loop.operands().size(); i++) {
      Region region = loop.operands().get(i).region();
      if (space.operands().get(i).direction() == Direction.STORE && read.contains(region)) {
        uses.get(region).isKept = false;
      }
    }
  }

  /**
   * Whether the result of a loop may be in the tile of an operand: the only call that reads the
   * operand precedes all that write the result, or is the first of these and can run in place.
   */
  static boolean mayBeOverwritten(TileSpace space, int operand) {
    boolean isWritten = false;
    boolean isRead = false;
    for (KernelCall call : space.calls()) {
      List<Argument.Value> pointers =
          call.arguments().stream().flatMap(Argument::pointers).toList();
      boolean writes = pointers.stream().anyMatch(pointer -> isResult(space, pointer));
      long reads =
          pointers.stream()
              .filter(
                  pointer ->
                      pointer instanceof Argument.Value.OperandPointer(int own, _)
                          && own == operand)
              .count();
      if (reads > 0) {
        boolean isFirst = !isRead && !isWritten && reads == 1;
        if (!isFirst || writes && !isInPlace(call, operand)) {
          return false;
        }
        isRead = true;
      }
      isWritten |= writes;
    }
    return isRead;
  }

  private static boolean isResult(TileSpace space, Argument.Value pointer) {
    return pointer instanceof Argument.Value.OperandPointer(int operand, _)
        && space.operands().get(operand).direction() == Direction.STORE;
  }

  private static boolean isInPlace(KernelCall call, int operand) {
    return call.kernel().isEpilogue()
        && call.arguments().stream()
            .filter(argument -> call.kernel().struct().inPlace().contains(argument.field()))
            .anyMatch(
                argument ->
                    argument.value() instanceof Argument.Value.OperandPointer pointer
                        && pointer.operand() == operand);
  }

  /** Returns the tasks with values at these places; empty if a loop needs more working memory. */
  private Optional<RoleTasks> loops(List<Kept> places) {
    LoopKernels changed = kernels.within(rest, loopBytes);
    List<ChipTasks> result = new ArrayList<>();
    for (int entry = 0; entry < entries.size(); entry++) {
      ChipTasks before = entries.get(entry);
      Kept kept = places.get(entry);
      List<Task> tasks = new ArrayList<>();
      int[] numbers = new int[before.tasks().size()];
      Optional<Task.Preload> copy = copy(kept);
      copy.ifPresent(tasks::add);
      for (int i = 0; i < numbers.length; i++) {
        Task task = before.tasks().get(i);
        if (copy.isPresent() && !(task instanceof Task.Rows)) {
          tasks.add(new Task.AwaitPreload(copy.get().number(), copy.get().origin()));
          copy = Optional.empty();
        }
        numbers[i] = tasks.size();
        Optional<Task> own =
            task instanceof Task.Loop loop ? loop(loop, kept.offsets, changed) : Optional.of(task);
        if (own.isEmpty()) {
          return Optional.empty();
        }
        tasks.add(own.get());
      }
      result.add(before.near(tasks, numbers, changed.kernels(), kept.offsets, loopBytes));
    }
    return Optional.of(
        new RoleTasks(result.stream().map(each -> each.with(changed.kernels())).toList(), changed));
  }

  /** Returns the cycles in which the constants of all entry points are copied. */
  private double copyCycles(List<Kept> places) {
    return places.stream()
        .filter(kept -> !kept.constants.isEmpty())
        .mapToDouble(kept -> kept.constants.stream().mapToLong(Region::bytes).sum())
        .map(
            bytes ->
                chip.channel(Scheduler.home(chip).name(), chip.working().name())
                    .map(channel -> chip.operandCycles() + channel.cycles((long) bytes, 0))
                    .orElse(0.0))
        .sum();
  }

  /** Returns the transfer of all constants, which gives them a place together. */
  private static Optional<Task.Preload> copy(Kept kept) {
    if (kept.constants.isEmpty()) {
      return Optional.empty();
    }
    Origin origin = Origin.named("small constants");
    Region all = Region.constants(origin, kept.constants);
    kept.offsets.put(all, kept.offsets.get(kept.constants.getFirst()));
    return Optional.of(new Task.Preload(0, all, 0, all.bytes(), origin));
  }

  private Optional<Task> loop(Task.Loop loop, Map<Region, Long> places, LoopKernels changed) {
    Set<Integer> near = new TreeSet<>();
    for (int i = 0; i < loop.operands().size(); i++) {
      if (places.containsKey(loop.operands().get(i).region())) {
        near.add(i);
      }
    }
    TileSpace space = kernels.space(loop.index()).withNear(near);
    if (!changed.fits(space)) {
      return Optional.empty();
    }
    int index = changed.index(space, loop.origin().name());
    TiledKernel kernel = changed.kernels().get(index);
    for (int operand : near) {
      if (!NearTiles.areLines(kernel, operand, TILE_ALIGNMENT)) {
        refused.add(loop.operands().get(operand).region());
      }
    }
    return Optional.of(new Task.Loop(index, kernel, loop.operands(), loop.origin(), loop.text()));
  }
}
