package io.partita.ir.schedule;

import io.partita.ir.schedule.kernel.TileExpression;
import io.partita.ir.type.ElementType;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

/**
 * The lines of a contiguous state that an update changes: {@code count} lines of each part, from a
 * position on that is known when it runs. A cache has a part for each head, and a line for each
 * token.
 *
 * @param position the offset of the number of the first line in the home memory
 * @param index the type of that number, i32 or i64
 * @param count the changed lines of each part
 * @param capacity the lines of each part; at least {@code count}
 * @param circular whether lines go on with the first one behind the last one; otherwise they begin
 *     early enough to fit
 */
public record StateLines(
    long position,
    ElementType index,
    long count,
    long capacity,
    long parts,
    long lineBytes,
    boolean circular) {
  /**
   * Adjacent changed lines.
   *
   * @param offset from the start of the state, in bytes
   */
  public record Run(long offset, long bytes) {}

  /** Returns the bytes of the changed lines. */
  public long bytes() {
    return parts * count * lineBytes;
  }

  /** Returns the bytes among which the changed lines are. */
  public long stateBytes() {
    return parts * capacity * lineBytes;
  }

  /** Returns the bytes of the changed lines of each part, which are adjacent unless they wrap. */
  public long partBytes() {
    return count * lineBytes;
  }

  /**
   * Returns the changed lines.
   *
   * @param start the number at {@link #position}
   */
  public List<Run> runs(long start) {
    long first = circular ? Math.floorMod(start, capacity) : Math.clamp(start, 0, capacity - count);
    long behind = Math.min(count, capacity - first);
    List<Run> runs = new ArrayList<>();
    for (long part = 0; part < parts; part++) {
      long begin = part * capacity;
      runs.add(new Run((begin + first) * lineBytes, behind * lineBytes));
      if (behind < count) {
        runs.add(new Run(begin * lineBytes, (count - behind) * lineBytes));
      }
    }
    return runs;
  }

  /**
   * Returns the first line of a tile of an update.
   *
   * @param within the number of the line in the update
   */
  public static TileExpression first(
      TileExpression position, TileExpression within, long count, long capacity, boolean circular) {
    TileExpression place = position.plus(within);
    return circular
        ? place.minus(place.dividedBy(capacity).times(capacity))
        : position
            .maximum(TileExpression.of(0))
            .minimum(TileExpression.of(capacity - count))
            .plus(within);
  }

  /**
   * Returns the lines outside of which a loop changes nothing; empty if it isn't an update of
   * lines.
   *
   * @param places the offset of each operand, of which that of the position is used
   */
  public static Optional<StateLines> of(TiledKernel kernel, List<Long> places) {
    List<TileOperand> stores =
        kernel.operands().stream()
            .filter(operand -> operand.direction() == Direction.STORE)
            .toList();
    List<Integer> scalars =
        IntStream.range(0, kernel.operands().size())
            .filter(i -> kernel.operands().get(i).direction() == Direction.SCALAR)
            .boxed()
            .toList();
    return stores.size() == 1 && scalars.size() == 1
        ? of(kernel, stores.getFirst(), scalars.getFirst(), places)
        : Optional.empty();
  }

  private static Optional<StateLines> of(
      TiledKernel kernel, TileOperand store, int scalar, List<Long> places) {
    List<BoxDimension> box =
        store.box().stream()
            .filter(dimension -> dimension.extent() > 1)
            .sorted(Comparator.comparingLong(BoxDimension::stride).reversed())
            .toList();
    List<BoxDimension> moving =
        box.stream().filter(dimension -> dimension.start().readsScalar()).toList();
    boolean hasBytes = store.packing() == Packing.PLAIN && store.element().bits() >= Byte.SIZE;
    if (store.isNear() || !hasBytes || moving.size() != 1 || !isContiguous(box)) {
      return Optional.empty();
    }
    BoxDimension lines = moving.getFirst();
    return count(kernel, lines, scalar)
        .map(
            count ->
                new StateLines(
                    places.get(scalar),
                    kernel.operands().get(scalar).element(),
                    count,
                    lines.extent(),
                    elements(box.subList(0, box.indexOf(lines))),
                    store.bytes(lines.stride()),
                    isCircular(lines)));
  }

  private static boolean isCircular(BoxDimension lines) {
    return lines.start() instanceof TileExpression.Difference;
  }

  /** Returns how many lines all tiles change together, if they do so as {@link #first} says. */
  private static Optional<Long> count(TiledKernel kernel, BoxDimension lines, int scalar) {
    List<TileExpression> withins = new ArrayList<>();
    List<Long> counts = new ArrayList<>();
    if (lines.size() instanceof TileExpression.Literal(long size)) {
      withins.add(TileExpression.of(0));
      counts.add(size);
    }
    for (int axis = 0; axis < kernel.axes().size(); axis++) {
      withins.add(TileExpression.start(axis));
      counts.add(kernel.axes().get(axis).extent());
    }
    for (int i = 0; i < counts.size(); i++) {
      TileExpression first =
          first(
              new TileExpression.Scalar(scalar),
              withins.get(i),
              counts.get(i),
              lines.extent(),
              isCircular(lines));
      if (counts.get(i) <= lines.extent() && lines.start().equals(first)) {
        return Optional.of(counts.get(i));
      }
    }
    return Optional.empty();
  }

  private static boolean isContiguous(List<BoxDimension> box) {
    long within = 1;
    for (BoxDimension dimension : box.reversed()) {
      if (dimension.stride() != within) {
        return false;
      }
      within *= dimension.extent();
    }
    return true;
  }

  private static long elements(List<BoxDimension> box) {
    return box.stream().mapToLong(BoxDimension::extent).reduce(1, Math::multiplyExact);
  }
}
