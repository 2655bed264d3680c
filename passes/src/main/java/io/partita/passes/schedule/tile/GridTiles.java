package io.partita.passes.schedule.tile;

import io.partita.ir.schedule.CircularBuffer;
import io.partita.ir.schedule.CoreGrid;
import io.partita.ir.schedule.Direction;
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
 * Distributes the results of a loop over cores with private working memories. Two axes are
 * distributed over rows and columns of the grid, or one over all cores. Tiles are pages of 32 x 32
 * elements, and small enough to keep all cores busy.
 */
final class GridTiles {
  /** Rows and columns of a page. */
  static final long PAGE = 32;

  /** The first id of buffers of results. */
  private static final int FIRST_RESULT = 16;

  private final CoreGrid grid;
  private final TileSpace space;
  private final Map<CoreGrid.Axis, Integer> dealt = new EnumMap<>(CoreGrid.Axis.class);

  private GridTiles(TileSpace whole, CoreGrid grid) {
    this.grid = grid;
    List<Integer> axes = new ArrayList<>();
    for (int axis = 0; axis < whole.axes().size(); axis++) {
      if (mayBeDealt(whole, axis)) {
        axes.add(axis);
      }
    }
    axes.sort(Comparator.comparingLong(axis -> -blocks(whole, whole.axes().get(axis))));
    List<Integer> taken = axes.subList(0, Math.min(2, axes.size())).stream().sorted().toList();
    if (taken.size() == 2) {
      dealt.put(CoreGrid.Axis.ROWS, taken.get(0));
      dealt.put(CoreGrid.Axis.COLUMNS, taken.get(1));
    } else if (taken.size() == 1) {
      dealt.put(CoreGrid.Axis.CORES, taken.getFirst());
    }
    List<TileSpace.Axis> limited = new ArrayList<>();
    for (int axis = 0; axis < whole.axes().size(); axis++) {
      limited.add(limited(whole, whole.axes().get(axis), over(axis)));
    }
    this.space =
        new TileSpace(whole.name(), limited, whole.operands(), whole.scratch(), whole.calls());
  }

  /** Empty if cores share the working memory. */
  static Optional<GridTiles> of(TileSpace space, ChipKind chip) {
    return chip.working().scope() == Memory.Scope.CORE
        ? Optional.of(new GridTiles(space, grid(chip)))
        : Optional.empty();
  }

  static CoreGrid grid(ChipKind chip) {
    return new CoreGrid(chip.coreRows(), chip.cores() / chip.coreRows());
  }

  /** Returns the space with tiles of whole pages. */
  TileSpace space() {
    return space;
  }

  /** Whether an axis is one of results alone, and no kernel depends on its end. */
  private static boolean mayBeDealt(TileSpace space, int axis) {
    TileSpace.Axis one = space.axes().get(axis);
    return !one.reduction()
        && one.limit().isEmpty()
        && blocks(space, one) > 1
        && space.calls().stream().noneMatch(call -> call.onLast().contains(axis))
        && space.operands().stream()
            .filter(operand -> operand.direction() == Direction.STORE)
            .allMatch(operand -> dependsOn(operand, axis));
  }

  private static boolean dependsOn(TileSpace.Operand operand, int axis) {
    return operand.box().stream()
        .anyMatch(each -> each.start().dependsOn(axis) || each.size().dependsOn(axis));
  }

  private static long blocks(TileSpace space, TileSpace.Axis axis) {
    return Math.ceilDiv(axis.extent(), granule(space, axis));
  }

  /** Rounds to whole pages if there are several; tensors without rows fill them in order. */
  private static long granule(TileSpace space, TileSpace.Axis axis) {
    boolean isFlat = space.operands().stream().allMatch(operand -> operand.box().size() < 2);
    long page = isFlat ? PAGE * PAGE : PAGE;
    boolean hasPages = axis.extent() > page && axis.largest() >= page && page % axis.granule() == 0;
    return hasPages ? page : axis.granule();
  }

  private TileSpace.Axis limited(
      TileSpace whole, TileSpace.Axis axis, Optional<CoreGrid.Axis> over) {
    long granule = granule(whole, axis);
    long share =
        over.map(each -> Math.ceilDiv(axis.extent(), grid.size(each))).orElse(axis.extent());
    long largest = Math.min(axis.largest(), WorkingMemory.align(share, granule));
    return new TileSpace.Axis(
        axis.name(), axis.extent(), granule, largest, axis.reduction(), axis.limit());
  }

  /** Returns the cores over which the tiles of an axis are distributed. */
  Optional<CoreGrid.Axis> over(int axis) {
    return dealt.entrySet().stream()
        .filter(each -> each.getValue() == axis)
        .map(Map.Entry::getKey)
        .findFirst();
  }

  /**
   * Returns the dimension of the grid along which all cores need the same tiles of an operand.
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
    if (operand.direction() != Direction.LOAD || same.isEmpty()) {
      return Optional.empty();
    }
    return Optional.of(same.size() == 2 ? CoreGrid.Axis.CORES : same.getFirst());
  }

  /** Returns the queue of the tiles of an operand. */
  CircularBuffer buffer(int operand) {
    Direction direction = space.operands().get(operand).direction();
    long before =
        space.operands().subList(0, operand).stream()
            .filter(each -> each.direction() == direction)
            .count();
    int first = direction == Direction.STORE ? FIRST_RESULT : 0;
    return new CircularBuffer(
        first + (int) before, pageBytes(space.operands().get(operand).element()));
  }

  static long pageBytes(ElementType element) {
    return element.packedBytes(PAGE * PAGE);
  }

  /**
   * Returns the elements of the pages of a tile.
   *
   * @param extents the extents of the tile, outermost first
   */
  static long paged(List<Long> extents) {
    int rank = extents.size();
    long elements = 1;
    for (int i = 0; i < rank - 2; i++) {
      elements *= extents.get(i);
    }
    if (rank < 2) {
      return WorkingMemory.align(rank == 0 ? 1 : extents.getFirst(), PAGE * PAGE);
    }
    return elements
        * WorkingMemory.align(extents.get(rank - 2), PAGE)
        * WorkingMemory.align(extents.get(rank - 1), PAGE);
  }
}
