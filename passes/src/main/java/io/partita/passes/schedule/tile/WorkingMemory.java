package io.partita.passes.schedule.tile;

import io.partita.ir.schedule.BoxDimension;
import io.partita.ir.schedule.Direction;
import io.partita.ir.schedule.kernel.TileExpression;
import io.partita.ir.schedule.kernel.TileExpression.Size;
import io.partita.passes.schedule.lower.TileSpace;
import java.util.List;
import java.util.stream.Stream;

/**
 * The layout of the working memory of a loop: tiles and scratch, one after the other in the order
 * of the loop. Tilings have the extents of the space.
 */
final class WorkingMemory {
  /** The alignment, sufficient for all uses of scratch. */
  private static final long SCRATCH_ALIGNMENT = 8;

  private final TileSpace space;
  private final long alignment;
  private final boolean isPaged;
  private final boolean areVectorsRows;
  private final List<List<Extent>> extents;
  private final List<PerTiles<Long>> slots;
  private final List<PerTiles<Long>> scratch;

  /**
   * @param places the places of tiles, simplified for equal extents
   */
  private record Extent(TileExpression size, TileExpression places) {}

  /**
   * @param isPaged whether tiles are stored in pages of {@link GridTiles#PAGE} rows and columns
   */
  WorkingMemory(TileSpace space, long alignment, boolean isPaged) {
    this.space = space;
    this.isPaged = isPaged;
    this.areVectorsRows = GridTiles.areVectorsRows(space);
    this.alignment = alignment;
    List<List<BoxDimension>> boxes = space.operands().stream().map(this::stored).toList();
    this.extents =
        boxes.stream().map(box -> box.stream().map(one -> extent(one.size())).toList()).toList();
    int axes = space.axes().size();
    this.slots =
        boxes.stream().map(box -> memo(box.stream().map(BoxDimension::size), axes)).toList();
    this.scratch =
        space.scratch().stream().map(each -> memo(Stream.of(each.bytes()), axes)).toList();
  }

  /**
   * Returns what is stored of an operand. Kernels of pages read a number that each element of a
   * product is combined with as a row of such numbers.
   */
  private List<BoxDimension> stored(TileSpace.Operand operand) {
    boolean isNumber = operand.box().stream().allMatch(each -> each.extent() == 1);
    if (!isPaged || !areVectorsRows || !isNumber || space.operands().indexOf(operand) < 2) {
      return operand.box();
    }
    return space.operands().stream()
        .filter(each -> each.direction() == Direction.STORE)
        .map(result -> List.of(result.box().getLast()))
        .findFirst()
        .orElseThrow();
  }

  private static PerTiles<Long> memo(Stream<TileExpression> of, int axes) {
    return new PerTiles<>(
        of.mapToLong(each -> PerTiles.axes(each, axes)).reduce(0, (mask, own) -> mask | own));
  }

  private static Extent extent(TileExpression size) {
    return new Extent(
        size, size.replacing(leaf -> leaf instanceof Size ? TileExpression.of(1) : leaf));
  }

  /** Returns the bytes of one slot of an operand. */
  long slotBytes(int operand, Tiling tiling) {
    return slots.get(operand).get(tiling, each -> slot(operand, each));
  }

  private long slot(int operand, Tiling tiling) {
    TileSpace.Operand part = space.operands().get(operand);
    if (part.direction() == Direction.SCALAR || part.isNear()) {
      return 0;
    }
    List<Long> sizes =
        extents.get(operand).stream()
            .map(extent -> largest(extent, 0, tiling, new TilePosition(tiling)))
            .toList();
    long together = sizes.stream().reduce(1L, (product, size) -> product * size);
    long elements =
        !isPaged
            ? together
            : GridTiles.isTable(space, operand)
                ? align(together, GridTiles.PAGE * GridTiles.PAGE)
                : GridTiles.paged(areVectorsRows, sizes);
    return align(part.packing().bytes(part.element(), elements), alignment(operand));
  }

  long alignment(int operand) {
    return Math.max(alignment, space.operands().get(operand).element().bits() / 8);
  }

  long scratchBytes(int number, Tiling tiling) {
    TileExpression bytes = space.scratch().get(number).bytes();
    return scratch
        .get(number)
        .get(tiling, each -> align(bytes.at(new TilePosition(each)), SCRATCH_ALIGNMENT));
  }

  /** Returns the total bytes, from address 0. */
  long bytes(Tiling tiling) {
    long isDouble = 0;
    for (int i = 0; i < tiling.slots().length; i++) {
      isDouble |= tiling.slots()[i] == 2 ? 1L << i : 0;
    }
    return bytes(parts(tiling), isDouble);
  }

  /** Returns the bytes of one slot of each operand, then those of scratch. */
  long[] parts(Tiling tiling) {
    long[] parts = new long[slots.size() + scratch.size()];
    for (int i = 0; i < slots.size(); i++) {
      parts[i] = slotBytes(i, tiling);
    }
    for (int i = 0; i < scratch.size(); i++) {
      parts[slots.size() + i] = scratchBytes(i, tiling);
    }
    return parts;
  }

  /**
   * Returns the total bytes, from address 0.
   *
   * @param isDouble the operands with two slots, as bits
   */
  long bytes(long[] parts, long isDouble) {
    long end = 0;
    for (int i = 0; i < slots.size(); i++) {
      end = align(end, alignment(i)) + (1 + (isDouble >> i & 1)) * parts[i];
    }
    for (int i = slots.size(); i < parts.length; i++) {
      end = align(end, SCRATCH_ALIGNMENT) + parts[i];
    }
    return end;
  }

  static long align(long bytes, long alignment) {
    return Math.ceilDiv(bytes, alignment) * alignment;
  }

  long scratchStart(long end) {
    return align(end, SCRATCH_ALIGNMENT);
  }

  /**
   * Returns the maximum over all tiles. Extents grow with those of tiles; expressions of positions
   * are evaluated at each.
   */
  private static long largest(Extent extent, int axis, Tiling tiling, TilePosition at) {
    if (axis == tiling.extents().length) {
      return extent.size.at(at);
    }
    long most = 0;
    long count = extent.places.dependsOn(axis) ? tiling.count(axis) : 1;
    for (long index = 0; index < count; index++) {
      at.move(axis, index);
      most = Math.max(most, largest(extent, axis + 1, tiling, at));
    }
    return most;
  }
}
