package io.partita.passes.schedule.tile;

import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.schedule.BoxDimension;
import io.partita.ir.schedule.CircularBuffer;
import io.partita.ir.schedule.Direction;
import io.partita.ir.schedule.Stage;
import io.partita.ir.schedule.TileAxis;
import io.partita.ir.schedule.TileOperand;
import io.partita.ir.schedule.TileScratch;
import io.partita.ir.schedule.TiledKernel;
import io.partita.ir.schedule.kernel.Argument;
import io.partita.ir.schedule.kernel.Argument.Value;
import io.partita.ir.schedule.kernel.KernelCall;
import io.partita.ir.schedule.kernel.TileExpression;
import io.partita.ir.schedule.kernel.TileExpression.First;
import io.partita.ir.schedule.kernel.TileExpression.Last;
import io.partita.ir.schedule.kernel.TileExpression.Size;
import io.partita.ir.schedule.kernel.TileExpression.Start;
import io.partita.ir.target.ChipKind;
import io.partita.ir.target.Memory;
import io.partita.passes.schedule.lower.TileSpace;
import java.lang.ref.SoftReference;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * Chooses tiles: their extents, the order of loops, and the operands with two slots, so that a loop
 * fits the working memory and has the least predicted time. Each loop is computed once; equal loops
 * get equal tiles. Thread-safe.
 */
public final class TileChoice {
  private final ChipKind chip;

  /** The cores that share tiles: all, or one if each has private tiles. */
  private final ChipKind worker;

  private final long workingBytes;
  private final boolean doubleBuffer;
  private final Map<TileSpace, Timed> known = new ConcurrentHashMap<>();

  /** What a choice depends on. */
  private record Key(ChipKind chip, long workingBytes, boolean doubleBuffer) {}

  private static final Map<Key, SoftReference<TileChoice>> CHOICES = new ConcurrentHashMap<>();

  /** A loop and its time. */
  private record Timed(TiledKernel kernel, double cycles) {}

  /**
   * Returns a choice that knows the loops of earlier programs while there is memory for them: a
   * plan predicts hundreds of programs with mostly the same loops.
   *
   * @param workingBytes the bytes for tiles, without stacks and messages
   * @param doubleBuffer whether transfers may overlap with computing
   */
  public static TileChoice of(ChipKind chip, long workingBytes, boolean doubleBuffer) {
    Key key = new Key(chip, workingBytes, doubleBuffer);
    SoftReference<TileChoice> known = CHOICES.get(key);
    TileChoice choice = known == null ? null : known.get();
    if (choice == null) {
      choice = new TileChoice(chip, workingBytes, doubleBuffer);
      CHOICES.put(key, new SoftReference<>(choice));
    }
    return choice;
  }

  /**
   * @param workingBytes the bytes for tiles, without stacks and messages
   * @param doubleBuffer whether transfers may overlap with computing
   */
  public TileChoice(ChipKind chip, long workingBytes, boolean doubleBuffer) {
    this.chip = chip;
    this.worker = chip.working().scope() == Memory.Scope.CORE ? chip.oneCore() : chip;
    this.workingBytes = workingBytes;
    this.doubleBuffer = doubleBuffer;
  }

  /**
   * Returns whether tiles are stored in pages of rows and columns, as those of a private memory.
   */
  public boolean arePaged() {
    return arePaged(chip);
  }

  /** Returns the cycles of the control core for each loop, besides transfers and kernels. */
  public double loopCycles() {
    return chip.loopCycles();
  }

  /** Returns whether tiles on a chip are stored in pages of rows and columns. */
  public static boolean arePaged(ChipKind chip) {
    return GridTiles.areDealt(chip);
  }

  /**
   * Returns the loop of a space. Axes with a single tile are omitted; operands, scratch and calls
   * are those of the space, in order.
   *
   * @param where the node of the loop
   * @return a loop named by the kernel and the extents of axes; different loops may have the same
   *     name
   * @throws PartitaException with {@link TileCode#TOO_LARGE}
   */
  public TiledKernel choose(TileSpace space, String where) {
    return find(space).orElseThrow(() -> tooLarge(space, where));
  }

  /** Returns the loop of a space; empty if its smallest tiles don't fit. */
  public Optional<TiledKernel> find(TileSpace space) {
    return timed(space).map(Timed::kernel);
  }

  /** Returns the time of the loop of a space; empty if its smallest tiles don't fit. */
  public OptionalDouble cycles(TileSpace space) {
    return timed(space).stream().mapToDouble(Timed::cycles).findFirst();
  }

  private Optional<Timed> timed(TileSpace space) {
    Timed earlier = known.get(space);
    if (earlier != null) {
      return Optional.of(earlier);
    }
    Optional<Timed> found = fastestOfAll(space);
    found.ifPresent(loop -> known.put(space, loop));
    return found;
  }

  /** Returns the possible tile sizes of a space. */
  private final class Choice {
    private final Optional<GridTiles> grid;
    private final TileSpace space;
    private final TileSearch search;

    /**
     * @param grid a distribution over cores, if they have private tiles
     */
    Choice(TileSpace whole, Optional<GridTiles> grid) {
      this.grid = grid;
      space = grid.map(GridTiles::space).orElse(whole);
      TileSpace ofCore = grid.map(GridTiles::share).orElse(space);
      search = new TileSearch(ofCore, workingBytes, worker, doubleBuffer, grid);
    }

    Optional<Timed> best() {
      return search.best().map(tiling -> timed(this, whole(tiling)));
    }

    /** Returns the tiling of all cores that have the tiles of one. */
    private Tiling whole(Tiling tiling) {
      long[] extents = space.axes().stream().mapToLong(TileSpace.Axis::extent).toArray();
      return new Tiling(extents, tiling.tiles(), tiling.order(), tiling.slots());
    }
  }

  /** Returns the choices of a space: one for each distribution over cores with private tiles. */
  private List<Choice> choices(TileSpace space) {
    return GridTiles.areDealt(chip)
        ? GridTiles.all(space, chip).stream()
            .map(grid -> new Choice(space, Optional.of(grid)))
            .toList()
        : List.of(new Choice(space, Optional.empty()));
  }

  /**
   * Returns the loop of a space, or of the one in less memory if that is faster. That isn't tried
   * where the smallest tiles take at most half of the memory, since the next ones can be loaded
   * while these are used.
   */
  private Optional<Timed> fitting(TileSpace space) {
    Optional<Timed> whole = fastest(space);
    if (space.smaller().isEmpty() || arePaged()) {
      return whole;
    }
    TileSearch search = choices(space).getFirst().search;
    if (whole.isPresent() && search.memory().bytes(search.smallest()) <= workingBytes / 2) {
      return whole;
    }
    return Stream.of(whole, fastest(space.smaller().get()))
        .flatMap(Optional::stream)
        .min(Comparator.comparingDouble(Timed::cycles));
  }

  private Optional<Timed> fastest(TileSpace space) {
    return choices(space).stream()
        .flatMap(choice -> choice.best().stream())
        .min(Comparator.comparingDouble(Timed::cycles));
  }

  /**
   * Returns the fastest loop of those with the same results, with fused kernels if they are as
   * fast.
   */
  private Optional<Timed> fastestOfAll(TileSpace space) {
    Optional<TileSpace> fused = FusedCalls.of(space);
    Optional<TileSpace> rows = arePaged() ? Optional.empty() : RowsTogether.of(fused.orElse(space));
    Stream<Timed> others =
        Stream.of(rows, fused).flatMap(Optional::stream).flatMap(each -> fastest(each).stream());
    return Stream.concat(others, fitting(space).stream())
        .min(Comparator.comparingDouble(Timed::cycles));
  }

  private Timed timed(Choice choice, Tiling tiling) {
    TiledKernel kernel = tiled(choice, tiling);
    LoopTime time = LoopTime.of(kernel, chip);
    return new Timed(kernel, time.cycles() + time.coldCycles());
  }

  private PartitaException tooLarge(TileSpace whole, String where) {
    Choice choice = choices(arePaged() ? whole : whole.smaller().orElse(whole)).getFirst();
    TileSpace space = choice.space;
    TileSearch search = choice.search;
    Tiling smallest = search.smallest();
    WorkingMemory memory = search.memory();
    String operands =
        IntStream.range(0, space.operands().size())
            .filter(i -> space.operands().get(i).direction() != Direction.SCALAR)
            .mapToObj(i -> space.operands().get(i).name() + " " + memory.slotBytes(i, smallest))
            .collect(Collectors.joining(", "));
    String scratch =
        IntStream.range(0, space.scratch().size())
            .mapToObj(
                i -> ", " + space.scratch().get(i).name() + " " + memory.scratchBytes(i, smallest))
            .collect(Collectors.joining());
    return new PartitaException(
        TileCode.TOO_LARGE,
        where,
        "at most " + workingBytes + " bytes of " + chip.working().name() + " on " + chip.name(),
        memory.bytes(smallest)
            + " bytes for the smallest tiles of "
            + space.name()
            + ": "
            + operands
            + scratch,
        // The cores of a card have the memories that they have.
        arePaged(chip)
            ? "use more devices, smaller dimensions, or narrower elements"
            : "use more devices, smaller dimensions, narrower elements, or a larger "
                + chip.working().name());
  }

  private static TiledKernel tiled(Choice choice, Tiling tiling) {
    TileSpace space = choice.space;
    WorkingMemory memory = choice.search.memory();
    List<TileAxis> axes = new ArrayList<>();
    Map<Integer, Integer> places = new HashMap<>();
    for (int axis : tiling.order()) {
      if (tiling.count(axis) > 1) {
        places.put(axis, places.size());
      }
    }
    UnaryOperator<TileExpression> leaf = each -> placed(each, places, space);
    for (int axis : tiling.order()) {
      TileSpace.Axis each = space.axes().get(axis);
      if (places.containsKey(axis)) {
        axes.add(
            new TileAxis(
                each.name(),
                each.extent(),
                tiling.tiles()[axis],
                each.limit().map(limit -> limit.replacing(leaf)),
                choice.grid.flatMap(grid -> grid.over(axis))));
      }
    }
    List<TileOperand> operands = new ArrayList<>();
    long end = 0;
    for (int i = 0; i < space.operands().size(); i++) {
      TileSpace.Operand each = space.operands().get(i);
      long start = each.isNear() ? 0 : WorkingMemory.align(end, memory.alignment(i));
      long slot = memory.slotBytes(i, tiling);
      int slots = each.isNear() ? 0 : tiling.slots()[i];
      List<BoxDimension> box = each.box().stream().map(one -> placed(one, leaf)).toList();
      operands.add(
          new TileOperand(
              each.name(),
              each.element(),
              each.packing(),
              each.direction(),
              box,
              start,
              slot,
              slots,
              choice.grid.flatMap(grid -> grid.multicast(each, axis -> tiling.count(axis) > 1)),
              buffer(choice, i)));
      end = Math.max(end, start + slots * slot);
    }
    List<TileScratch> scratch = new ArrayList<>();
    for (int i = 0; i < space.scratch().size(); i++) {
      long start = memory.scratchStart(end);
      long bytes = memory.scratchBytes(i, tiling);
      if (bytes == 0) {
        // Only the last one, of sums that aren't in parts.
        continue;
      }
      scratch.add(new TileScratch(space.scratch().get(i).name(), start, bytes));
      end = start + bytes;
    }
    UnaryOperator<TileExpression> ofCall =
        choice.grid.isPresent() ? leaf : each -> leaf.apply(known(each, tiling, space));
    List<KernelCall> calls =
        space.calls().stream().map(call -> placed(call, ofCall, places)).toList();
    List<Stage> stages =
        choice.grid.isPresent()
            ? Stages.pipeline(axes, operands, calls)
            : Stages.control(axes, operands, calls, choice.search.waitsForLoads(tiling));
    return new TiledKernel(name(space), axes, operands, scratch, calls, stages, end);
  }

  private static Optional<CircularBuffer> buffer(Choice choice, int operand) {
    TileSpace.Operand each = choice.space.operands().get(operand);
    boolean isMoved = each.direction() != Direction.SCALAR && !each.isNear();
    return choice.grid.filter(grid -> isMoved).map(grid -> grid.buffer(operand));
  }

  private static String name(TileSpace space) {
    return space.name()
        + space.axes().stream().map(axis -> "_" + axis.extent()).collect(Collectors.joining());
  }

  /** Returns an axis by its position among the loops; an omitted one has a single tile. */
  private static TileExpression placed(
      TileExpression leaf, Map<Integer, Integer> places, TileSpace space) {
    return switch (leaf) {
      case Start(var axis) ->
          places.containsKey(axis) ? new Start(places.get(axis)) : TileExpression.of(0);
      case Size(var axis) ->
          places.containsKey(axis)
              ? new Size(places.get(axis))
              : TileExpression.of(space.axes().get(axis).extent());
      case First(var axis) ->
          places.containsKey(axis) ? new First(places.get(axis)) : TileExpression.of(1);
      case Last(var axis) ->
          places.containsKey(axis) ? new Last(places.get(axis)) : TileExpression.of(1);
      case TileExpression.Literal literal -> literal;
      case TileExpression.Scalar scalar -> scalar;
      case TileExpression.Sum sum -> sum;
      case TileExpression.Difference difference -> difference;
      case TileExpression.Product product -> product;
      case TileExpression.Quotient quotient -> quotient;
      case TileExpression.Minimum minimum -> minimum;
      case TileExpression.Maximum maximum -> maximum;
    };
  }

  /** Returns the size of tiles if all tiles of an axis have the same one. */
  private static TileExpression known(TileExpression leaf, Tiling tiling, TileSpace space) {
    if (!(leaf instanceof Size(var axis))) {
      return leaf;
    }
    TileSpace.Axis each = space.axes().get(axis);
    long tile = tiling.tiles()[axis];
    boolean isEqual = each.limit().isEmpty() && each.extent() % tile == 0;
    return isEqual ? TileExpression.of(tile) : leaf;
  }

  private static BoxDimension placed(BoxDimension dimension, UnaryOperator<TileExpression> leaf) {
    return new BoxDimension(
        dimension.start().replacing(leaf),
        dimension.size().replacing(leaf),
        dimension.extent(),
        dimension.stride());
  }

  private static KernelCall placed(
      KernelCall call, UnaryOperator<TileExpression> leaf, Map<Integer, Integer> places) {
    return new KernelCall(
        call.kernel(),
        call.arguments().stream()
            .map(argument -> new Argument(argument.field(), placed(argument.value(), leaf)))
            .toList(),
        placed(call.onFirst(), places),
        placed(call.onLast(), places));
  }

  private static List<Integer> placed(List<Integer> axes, Map<Integer, Integer> places) {
    return axes.stream().filter(places::containsKey).map(places::get).toList();
  }

  private static Value placed(Value value, UnaryOperator<TileExpression> leaf) {
    return switch (value) {
      case Value.OperandPointer(var operand, var offset) ->
          new Value.OperandPointer(operand, offset.replacing(leaf));
      case Value.ScratchPointer(var scratch, var offset) ->
          new Value.ScratchPointer(scratch, offset.replacing(leaf));
      case Value.Null none -> none;
      case Value.PointerWhen(var condition, var pointer) -> {
        TileExpression when = condition.replacing(leaf);
        yield when instanceof TileExpression.Literal(long known)
            ? known == 0 ? new Value.Null() : placed(pointer, leaf)
            : new Value.PointerWhen(when, placed(pointer, leaf));
      }
      case Value.Integer(var integer) -> new Value.Integer(integer.replacing(leaf));
      case Value.Float number -> number;
      case Value.Integers(var values) ->
          new Value.Integers(values.stream().map(each -> each.replacing(leaf)).toList());
      case Value.Struct(var arguments) ->
          new Value.Struct(
              arguments.stream()
                  .map(each -> new Argument(each.field(), placed(each.value(), leaf)))
                  .toList());
    };
  }
}
