package io.partita.passes.schedule.lower;

import static io.partita.ir.schedule.kernel.Argument.integers;
import static io.partita.ir.schedule.kernel.Argument.pointer;

import io.partita.ir.schedule.BoxDimension;
import io.partita.ir.schedule.kernel.Argument;
import io.partita.ir.schedule.kernel.Argument.Value;
import io.partita.ir.schedule.kernel.TileExpression;
import io.partita.ir.type.ElementType;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.IntStream;

/**
 * A loop that copies: each dimension of the written tile comes from one of the read tile, or from
 * none if it broadcasts. The read tile has the order of the home memory, so that it is transferred
 * in long lines.
 */
final class CopySpace {
  private static final TileExpression ZERO = TileExpression.of(0);

  private final TileSpaceBuilder space;
  private final ElementType element;
  private final List<Dimension> dimensions = new ArrayList<>();

  /**
   * A dimension of a copy.
   *
   * @param from the read part; null if it broadcasts
   * @param to the written part
   * @param count the number of copied indices, 0 or more
   * @param fromFirst the first index, relative to the read part
   * @param step the step of read indices; may be negative
   * @param toFirst the first index in the written part
   */
  record Dimension(
      BoxDimension from,
      BoxDimension to,
      TileExpression count,
      TileExpression fromFirst,
      long step,
      TileExpression toFirst) {
    /** Copies all of both parts, in order. */
    static Dimension of(BoxDimension from, BoxDimension to) {
      return new Dimension(from, to, to.size(), ZERO, 1, ZERO);
    }
  }

  CopySpace(TileSpaceBuilder space, ElementType element) {
    this.space = space;
    this.element = element;
  }

  static boolean hasKernel(ElementType element) {
    return element.bits() >= Byte.SIZE;
  }

  static String kernel(ElementType element) {
    return "copy_" + element.bits();
  }

  /** Dimensions, outermost first, in the order of the written tile in the working memory. */
  void add(Dimension dimension) {
    dimensions.add(dimension);
  }

  /** Returns the read part. */
  int load(int value) {
    return space.load(
        "x", value, element, TileGrid.closed(order().stream().map(i -> from(i)).toList()));
  }

  private BoxDimension from(int i) {
    return dimensions.get(i).from();
  }

  /** Returns the read dimensions, the largest stride first. */
  private List<Integer> order() {
    return IntStream.range(0, dimensions.size())
        .boxed()
        .filter(i -> from(i) != null)
        .sorted(Comparator.comparingLong((Integer i) -> -from(i).stride()))
        .toList();
  }

  int store(int value) {
    return space.store(
        "out", value, element, TileGrid.closed(dimensions.stream().map(Dimension::to).toList()));
  }

  /** Writes one value everywhere. */
  void fill(int value, int out) {
    List<TileExpression> zeros = dimensions.stream().map(each -> ZERO).toList();
    List<TileExpression> sizes = dimensions.stream().map(each -> each.to().size()).toList();
    call(pointer("x", value), pointer("out", out), sizes, zeros, toStrides());
  }

  void copy(int x, int out) {
    List<TileExpression> from = fromStrides();
    List<TileExpression> to = toStrides();
    TileExpression fromStart = ZERO;
    TileExpression toStart = ZERO;
    List<TileExpression> steps = new ArrayList<>();
    for (int i = 0; i < dimensions.size(); i++) {
      Dimension each = dimensions.get(i);
      fromStart = fromStart.plus(each.fromFirst().times(from.get(i)));
      toStart = toStart.plus(each.toFirst().times(to.get(i)));
      steps.add(from.get(i).times(each.step()));
    }
    call(
        new Argument("x", new Value.OperandPointer(x, fromStart)),
        new Argument("out", new Value.OperandPointer(out, toStart)),
        dimensions.stream().map(Dimension::count).toList(),
        steps,
        to);
  }

  private List<TileExpression> fromStrides() {
    List<TileExpression> strides = new ArrayList<>(dimensions.stream().map(each -> ZERO).toList());
    TileExpression next = TileExpression.of(1);
    for (int i : order().reversed()) {
      strides.set(i, next);
      next = next.times(from(i).size());
    }
    return strides;
  }

  private List<TileExpression> toStrides() {
    List<TileExpression> strides = new ArrayList<>();
    TileExpression next = TileExpression.of(1);
    for (Dimension each : dimensions.reversed()) {
      strides.addFirst(next);
      next = next.times(each.to().size());
    }
    return strides;
  }

  private void call(
      Argument x,
      Argument out,
      List<TileExpression> extents,
      List<TileExpression> from,
      List<TileExpression> to) {
    space.call(
        kernel(element),
        List.of(
            x,
            out,
            integers("extents", TileGrid.six(extents, 1)),
            integers("x_strides", TileGrid.six(from, 0)),
            integers("out_strides", TileGrid.six(to, 0))));
  }
}
