package io.partita.passes.schedule.lower;

import io.partita.ir.schedule.BoxDimension;
import io.partita.ir.schedule.Direction;
import io.partita.ir.schedule.kernel.TileExpression;
import io.partita.ir.type.Divisors;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

/**
 * Changes the loads of a value that is contiguous to loads from the storage of what it reorders: a
 * dimension of a tile becomes several ones of the storage. Tiles in the working memory stay as they
 * are, so kernels don't notice. For instance, heads that are columns of a matrix are loaded from
 * where each head has a matrix of its own.
 */
public final class ReorderedLoads {
  private final List<TileSpace.Axis> axes;

  private ReorderedLoads(List<TileSpace.Axis> axes) {
    this.axes = new ArrayList<>(axes);
  }

  /** Some indices of the storage, of which those of a dimension consist. */
  private record Factor(long extent, long stride) {}

  /**
   * @param space a loop with the value as contiguous elements
   * @param value the number of the value
   * @param source the same elements in the same order, with the shape and strides of the storage
   * @return the loop, whose tiles may have larger granules; empty if loads of its tiles would be
   *     irregular
   */
  public static Optional<TileSpace> of(TileSpace space, int value, TensorView source) {
    ReorderedLoads made = new ReorderedLoads(space.axes());
    List<TileSpace.Operand> operands = new ArrayList<>();
    for (TileSpace.Operand operand : space.operands()) {
      if (operand.value() != value) {
        operands.add(operand);
        continue;
      }
      Optional<List<BoxDimension>> box =
          operand.direction() == Direction.LOAD
              ? made.box(operand.box(), source)
              : Optional.empty();
      if (box.isEmpty()) {
        return Optional.empty();
      }
      operands.add(operand.with(box.get()));
    }
    return Optional.of(
        new TileSpace(
            space.name(),
            made.axes,
            operands,
            space.scratch(),
            space.calls(),
            space.smaller().flatMap(other -> of(other, value, source))));
  }

  private Optional<List<BoxDimension>> box(List<BoxDimension> box, TensorView source) {
    List<Integer> inner =
        IntStream.range(0, box.size())
            .filter(i -> box.get(i).extent() > 1 && box.get(i).stride() > 0)
            .boxed()
            .sorted(Comparator.comparingLong(i -> box.get(i).stride()))
            .toList();
    List<List<BoxDimension>> parts = new ArrayList<>(box.stream().map(List::of).toList());
    ElementCursor cursor = new ElementCursor(source);
    long within = 1;
    for (int i : inner) {
      BoxDimension dimension = box.get(i);
      List<Factor> factors = factors(cursor, dimension.extent());
      Optional<List<BoxDimension>> split =
          factors.isEmpty() || dimension.stride() != within
              ? Optional.empty()
              : split(dimension, factors);
      if (split.isEmpty()) {
        return Optional.empty();
      }
      parts.set(i, split.get());
      within *= dimension.extent();
    }
    List<BoxDimension> all = parts.stream().flatMap(List::stream).toList();
    boolean isRegular = all.isEmpty() || all.getLast().extent() == 1 || all.getLast().stride() == 1;
    return isRegular && within == source.elements() ? Optional.of(all) : Optional.empty();
  }

  /** Takes the next indices, outermost first; empty if they aren't whole dimensions. */
  private static List<Factor> factors(ElementCursor cursor, long extent) {
    List<Factor> factors = new ArrayList<>();
    long left = extent;
    while (left > 1) {
      long part = Math.min(left, cursor.left());
      if (part == 1 || left % part != 0 || cursor.left() % part != 0) {
        return List.of();
      }
      factors.addFirst(new Factor(part, cursor.take(part)));
      left /= part;
    }
    return factors;
  }

  /** A tile has all indices of the inner factors, and its own part of the outermost one. */
  private Optional<List<BoxDimension>> split(BoxDimension dimension, List<Factor> factors) {
    Factor outer = factors.getFirst();
    long inner = dimension.extent() / outer.extent;
    TileExpression start = dimension.start();
    TileExpression size = dimension.size();
    boolean isWhole = dimension.equals(BoxDimension.whole(dimension.extent(), dimension.stride()));
    if (!isWhole && inner > 1 && !coarsen(dimension, inner)) {
      return Optional.empty();
    }
    List<BoxDimension> split = new ArrayList<>();
    split.add(
        new BoxDimension(
            start.dividedBy(inner), size.dividedBy(inner), outer.extent, outer.stride));
    factors
        .subList(1, factors.size())
        .forEach(factor -> split.add(BoxDimension.whole(factor.extent, factor.stride)));
    return Optional.of(Collections.unmodifiableList(split));
  }

  /** Makes the tiles of a dimension multiples of a number that divides its extent. */
  private boolean coarsen(BoxDimension dimension, long unit) {
    for (int i = 0; i < axes.size(); i++) {
      TileSpace.Axis axis = axes.get(i);
      BoxDimension along = BoxDimension.along(i, axis.extent(), dimension.stride());
      if (axis.extent() == dimension.extent() && dimension.equals(along)) {
        long granule = Divisors.leastCommonMultiple(axis.granule(), unit);
        axes.set(
            i,
            new TileSpace.Axis(
                axis.name(),
                axis.extent(),
                Math.min(granule, axis.extent()),
                axis.largest(),
                axis.reduction(),
                axis.limit()));
        return granule <= axis.largest() || axis.largest() == axis.extent();
      }
    }
    return false;
  }
}
