package io.partita.passes.schedule.tile;

import io.partita.ir.schedule.CircularBuffer;
import io.partita.ir.schedule.CoreGrid;
import io.partita.ir.schedule.Direction;
import io.partita.ir.schedule.ProductBlocks;
import io.partita.ir.schedule.RowBlocks;
import io.partita.ir.schedule.TileBlocks;
import io.partita.ir.schedule.kernel.TileExpression;
import io.partita.ir.target.ChipKind;
import io.partita.ir.target.Memory;
import io.partita.ir.type.ElementType;
import io.partita.passes.schedule.lower.TileSpace;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.IntPredicate;

/**
 * A distribution of the results of a loop over cores with private working memories: two axes over
 * rows and columns of the grid, or one over all cores. Tiles are pages of 32 x 32 elements, and
 * small enough to keep all cores busy.
 */
final class GridTiles {
  /** Rows and columns of a page. */
  static final long PAGE = ProductBlocks.PAGE;

  /** What kernels of rows keep beside a row: sums, factors, and a page on its way. */
  private static final long PAGES_BESIDE_ROW = 8;

  /** The first id of buffers of results. */
  private static final int FIRST_RESULT = 16;

  private final CoreGrid grid;
  private final TileSpace space;
  private final TileSpace share;
  private final Map<CoreGrid.Axis, Integer> dealt = new EnumMap<>(CoreGrid.Axis.class);

  /**
   * @param taken the axes that are distributed, at most two
   */
  private GridTiles(TileSpace whole, CoreGrid grid, List<Integer> taken) {
    this.grid = grid;
    if (taken.size() == 2) {
      dealt.put(CoreGrid.Axis.ROWS, taken.get(0));
      dealt.put(CoreGrid.Axis.COLUMNS, taken.get(1));
    } else if (taken.size() == 1) {
      dealt.put(CoreGrid.Axis.CORES, taken.getFirst());
    }
    List<TileSpace.Axis> limited = new ArrayList<>();
    List<TileSpace.Axis> shares = new ArrayList<>();
    for (int axis = 0; axis < whole.axes().size(); axis++) {
      long extent = whole.axes().get(axis).extent();
      long share = share(whole, axis);
      limited.add(limited(whole, axis, extent, share));
      shares.add(limited(whole, axis, share, share));
    }
    List<TileSpace.Scratch> scratch = new ArrayList<>(whole.scratch());
    partialSums(whole, grid).ifPresent(scratch::add);
    intermediateRow(whole).ifPresent(scratch::add);
    this.space = new TileSpace(whole.name(), limited, whole.operands(), scratch, whole.calls());
    this.share = new TileSpace(whole.name(), shares, whole.operands(), scratch, whole.calls());
  }

  /**
   * Returns the distributions of a loop: over both directions of the grid, and over all cores one
   * after the other.
   */
  static List<GridTiles> all(TileSpace space, ChipKind chip) {
    List<Integer> axes = new ArrayList<>();
    for (int axis = 0; axis < space.axes().size(); axis++) {
      if (mayBeDealt(space, axis)) {
        axes.add(axis);
      }
    }
    axes.sort(Comparator.comparingLong(axis -> -blocks(space, axis)));
    List<Integer> taken = axes.subList(0, Math.min(2, axes.size())).stream().sorted().toList();
    CoreGrid grid = CoreGrid.of(chip);
    List<GridTiles> all = new ArrayList<>(List.of(new GridTiles(space, grid, taken)));
    if (taken.size() == 2) {
      taken.forEach(axis -> all.add(new GridTiles(space, grid, List.of(axis))));
    }
    return all;
  }

  /** Whether each core has a working memory of its own. */
  static boolean areDealt(ChipKind chip) {
    return chip.working().scope() == Memory.Scope.CORE;
  }

  /**
   * Sums of a product whose depth is cut are kept beside the queue of results, in the type of the
   * registers; otherwise they need no memory.
   */
  private static Optional<TileSpace.Scratch> partialSums(TileSpace whole, CoreGrid grid) {
    if (!isProduct(whole)) {
      return Optional.empty();
    }
    TileExpression one = TileExpression.of(1);
    TileExpression isWhole = one;
    for (int axis = 0; axis < whole.axes().size(); axis++) {
      isWhole =
          whole.axes().get(axis).reduction() ? isWhole.times(TileExpression.last(axis)) : isWhole;
    }
    int bytes = grid.sums(whole.operands()).bits() / Byte.SIZE;
    TileExpression elements = one.minus(isWhole).times(bytes);
    TileSpace.Operand result =
        whole.operands().stream()
            .filter(operand -> operand.direction() == Direction.STORE)
            .findFirst()
            .orElseThrow();
    int rank = result.box().size();
    for (int i = 0; i < rank; i++) {
      TileExpression size = result.box().get(i).size();
      boolean isOfPage = i >= rank - 2;
      elements = elements.times(isOfPage ? size.plus(PAGE - 1).dividedBy(PAGE).times(PAGE) : size);
    }
    return Optional.of(
        new TileSpace.Scratch("partials", rank == 1 ? elements.times(PAGE) : elements));
  }

  /** A row of intermediate results, such as squares, which kernels of norms and softmaxes keep. */
  private static Optional<TileSpace.Scratch> intermediateRow(TileSpace whole) {
    if (!isOfRows(whole)) {
      return Optional.empty();
    }
    TileSpace.Operand x = whole.operands().getFirst();
    long pages = Math.ceilDiv(x.box().getLast().extent(), PAGE) + PAGES_BESIDE_ROW;
    return Optional.of(
        new TileSpace.Scratch("row", TileExpression.of(pages * pageBytes(x.element()))));
  }

  /** Returns the space with tiles of whole pages. */
  TileSpace space() {
    return space;
  }

  /** Returns the part of the space that a core computes. */
  TileSpace share() {
    return share;
  }

  /** Whether an axis is one of results alone, and no kernel depends on its end. */
  private static boolean mayBeDealt(TileSpace space, int axis) {
    TileSpace.Axis one = space.axes().get(axis);
    return !one.reduction()
        && one.limit().isEmpty()
        && blocks(space, axis) > 1
        && space.calls().stream().noneMatch(call -> call.isConditional(axis))
        && space.operands().stream()
            .filter(operand -> operand.direction() == Direction.STORE)
            .allMatch(operand -> dependsOn(operand, axis));
  }

  private static boolean dependsOn(TileSpace.Operand operand, int axis) {
    return operand.box().stream()
        .anyMatch(each -> each.start().dependsOn(axis) || each.size().dependsOn(axis));
  }

  private static long blocks(TileSpace space, int axis) {
    return Math.ceilDiv(space.axes().get(axis).extent(), granule(space, axis));
  }

  private static boolean isProduct(TileSpace space) {
    return space.calls().stream()
        .flatMap(call -> call.arguments().stream())
        .anyMatch(argument -> argument.field().equals("accumulate"));
  }

  /** Whether a loop computes norms or softmaxes of whole rows. */
  private static boolean isOfRows(TileSpace space) {
    return space.calls().stream().anyMatch(RowBlocks::isOfRows);
  }

  /** Whether a loop computes elements of pages independently of other pages. */
  private static boolean isOfTiles(TileSpace space) {
    return space.calls().stream().limit(1).anyMatch(TileBlocks::isOfTiles);
  }

  /** Whether vectors are rows of pages; those of other loops fill pages in order. */
  static boolean areVectorsRows(TileSpace space) {
    return isProduct(space) || isOfTiles(space) || isOfRows(space);
  }

  /** Whether an operand is a table, of which kernels read single rows, not pages. */
  static boolean isTable(TileSpace space, int operand) {
    return space.operands().get(operand).name().equals("data")
        && space.calls().stream().anyMatch(call -> call.kernel().family().equals("gather"));
  }

  /** Rounds to whole pages; tensors without rows fill them in order. */
  private static long granule(TileSpace space, int number) {
    TileSpace.Axis axis = space.axes().get(number);
    boolean isFlat =
        !isOfTiles(space)
            && space.operands().stream().allMatch(operand -> operand.box().size() < 2);
    long page = isFlat ? PAGE * PAGE : PAGE;
    if (axis.extent() <= page) {
      boolean isWhole = axis.largest() == axis.extent() && isOfPage(space, number);
      return isWhole ? axis.extent() : axis.granule();
    }
    return axis.largest() >= page && page % axis.granule() == 0 ? page : axis.granule();
  }

  /** Returns the elements along an axis that a core has at most, in whole pages. */
  private long share(TileSpace whole, int axis) {
    long extent = whole.axes().get(axis).extent();
    return over(axis)
        .map(each -> Math.ceilDiv(extent, grid.size(each)))
        .map(share -> Math.min(extent, WorkingMemory.align(share, granule(whole, axis))))
        .orElse(extent);
  }

  /** Whether a step along an axis is one within a page. */
  private static boolean isOfPage(TileSpace space, int axis) {
    return space.operands().stream()
        .flatMap(
            operand ->
                operand
                    .box()
                    .subList(Math.max(0, operand.box().size() - 2), operand.box().size())
                    .stream())
        .anyMatch(each -> each.start().dependsOn(axis) || each.size().dependsOn(axis));
  }

  /**
   * Returns an axis of another extent, with tiles of whole pages.
   *
   * @param share the largest useful extent of tiles
   */
  private static TileSpace.Axis limited(TileSpace whole, int number, long extent, long share) {
    TileSpace.Axis axis = whole.axes().get(number);
    return new TileSpace.Axis(
        axis.name(),
        extent,
        granule(whole, number),
        Math.min(axis.largest(), share),
        axis.reduction(),
        axis.limit());
  }

  /** Returns the cores over which the tiles of an axis are distributed. */
  Optional<CoreGrid.Axis> over(int axis) {
    return dealt.entrySet().stream()
        .filter(each -> each.getValue() == axis)
        .map(Map.Entry::getKey)
        .findFirst();
  }

  /**
   * Returns the dimension of the grid along which all cores need the same tiles of an operand, and
   * one core sends them to the others. Kernels of products and of rows do that; others read such
   * operands on each core.
   *
   * @param isCut whether an axis has several tiles
   */
  Optional<CoreGrid.Axis> multicast(TileSpace.Operand operand, IntPredicate isCut) {
    List<CoreGrid.Axis> same =
        dealt.entrySet().stream()
            .filter(each -> isCut.test(each.getValue()))
            .filter(each -> !dependsOn(operand, each.getValue()))
            .map(Map.Entry::getKey)
            .toList();
    if (operand.direction() != Direction.LOAD || same.isEmpty() || !isMulticast()) {
      return Optional.empty();
    }
    return Optional.of(same.size() == 2 ? CoreGrid.Axis.CORES : same.getFirst());
  }

  private boolean isMulticast() {
    return isProduct(space) || isOfRows(space);
  }

  /** Returns the cores that need the same tiles of an operand, of which one loads them. */
  long sharing(TileSpace.Operand operand) {
    long cores = 1;
    for (Map.Entry<CoreGrid.Axis, Integer> each : dealt.entrySet()) {
      boolean isSame = isMulticast() && !dependsOn(operand, each.getValue());
      if (operand.direction() == Direction.LOAD && isSame) {
        cores *= Math.min(grid.size(each.getKey()), blocks(space, each.getValue()));
      }
    }
    return cores;
  }

  /** Returns the queue of the tiles of an operand. */
  CircularBuffer buffer(int operand) {
    Direction direction = space.operands().get(operand).direction();
    long before =
        space.operands().subList(0, operand).stream()
            .filter(each -> each.direction() == direction)
            .count();
    int first = direction == Direction.STORE ? FIRST_RESULT : 0;
    TileSpace.Operand one = space.operands().get(operand);
    return new CircularBuffer(
        first + (int) before, one.packing().bytes(one.element(), PAGE * PAGE));
  }

  static long pageBytes(ElementType element) {
    return element.packedBytes(PAGE * PAGE);
  }

  /**
   * Returns the elements of the pages of a tile.
   *
   * @param areRows whether vectors are rows of pages; otherwise they fill pages in order
   * @param extents the extents of the tile, outermost first
   */
  static long paged(boolean areRows, List<Long> extents) {
    int rank = extents.size();
    long elements = 1;
    for (int i = 0; i < rank - 2; i++) {
      elements *= extents.get(i);
    }
    if (rank < 2) {
      long size = rank == 0 ? 1 : extents.getFirst();
      return areRows
          ? PAGE * WorkingMemory.align(size, PAGE)
          : WorkingMemory.align(size, PAGE * PAGE);
    }
    return elements
        * WorkingMemory.align(extents.get(rank - 2), PAGE)
        * WorkingMemory.align(extents.get(rank - 1), PAGE);
  }
}
