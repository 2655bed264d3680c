package io.partita.frontend.onnx.operator;

import io.partita.frontend.onnx.NodeScope;
import io.partita.ir.function.BinaryFunction;
import io.partita.ir.function.UnaryFunction;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Movement;
import io.partita.ir.type.Dim;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import java.util.ArrayList;
import java.util.List;

/**
 * Samples images {@code x [batch, channels, extents…]} at {@code grid [batch, places…, axes]}: the
 * weighted sum of the neighbours of each place, which are gathered one by one.
 */
final class GridSampleOperators {
  private enum Padding {
    ZEROS,
    BORDER,
    REFLECTION
  }

  /**
   * A neighbour along one axis; both values are {@code [batch, places]}.
   *
   * @param index its index, which may be out of range
   */
  private record Tap(Value index, Value weight) {}

  private final NodeScope node;
  private final Arithmetic of;
  private final Value x;
  private final Padding padding;
  private final boolean alignsCorners;
  private final Dim places;

  private GridSampleOperators(NodeScope node) {
    this.node = node;
    this.of = new Arithmetic(node);
    this.x = node.input(0);
    this.alignsCorners = node.flag("align_corners", false);
    String name = node.text("padding_mode", "zeros");
    this.padding =
        switch (name) {
          case "zeros" -> Padding.ZEROS;
          case "border" -> Padding.BORDER;
          case "reflection" -> Padding.REFLECTION;
          default -> throw node.invalid("padding_mode zeros, border or reflection", name);
        };
    Shape grid = node.shape(1);
    this.places = grid.range(1, grid.rank() - 1).size();
  }

  static void register(OperatorRegistry registry) {
    registry.add(
        OperatorRegistry.ONNX, "GridSample", 16, node -> new GridSampleOperators(node).convert());
    registry.add(
        OperatorRegistry.MICROSOFT,
        "GridSample",
        1,
        node -> new GridSampleOperators(node).convert());
  }

  private void convert() {
    Shape shape = x.type().shape();
    Shape grid = node.shape(1);
    int axes = shape.rank() - 2;
    if (axes < 1 || !grid.fromEnd(0).is(axes) || grid.rank() != shape.rank()) {
      throw node.invalid(
          "a grid of rank " + shape.rank() + " with " + axes + " numbers per place",
          grid.toString());
    }
    List<List<Tap>> taps = new ArrayList<>();
    for (int axis = 0; axis < axes; axis++) {
      taps.add(taps(place(axis, axes), shape.dim(2 + axis)));
    }
    Dim size = shape.range(2, shape.rank()).size();
    Value image = of.reshape(x, Shape.of(shape.dim(0), shape.dim(1), size));
    Value sum = null;
    int combinations = taps.stream().mapToInt(List::size).reduce(1, Math::multiplyExact);
    for (int number = 0; number < combinations; number++) {
      Value part = neighbour(image, taps, number);
      sum = sum == null ? part : of.add(sum, part);
    }
    Shape to = shape.range(0, 2).concat(grid.range(1, grid.rank() - 1));
    node.output(0, of.reshape(sum, to));
  }

  /** Returns one combination of neighbours along all axes, {@code [batch, channels, places]}. */
  private Value neighbour(Value image, List<List<Tap>> taps, int number) {
    Value place = null;
    Value weight = null;
    int rest = number;
    for (int axis = 0; axis < taps.size(); axis++) {
      Tap tap = taps.get(axis).get(rest % taps.get(axis).size());
      rest /= taps.get(axis).size();
      Dim extent = x.type().dim(2 + axis);
      Value last = of.cast(of.extent(extent.plus(Dim.of(-1))), tap.index().type().element());
      Value inside = of.min(of.max(padded(tap.index(), extent), 0), last);
      Value share = tap.weight();
      if (padding == Padding.ZEROS) {
        Value isInside = of.binary(BinaryFunction.EQUAL, inside, tap.index());
        share = of.select(isInside, share, node.scalarLike(share, 0));
      }
      Value index = of.cast(inside, ElementType.I64);
      place = place == null ? index : of.add(of.mul(place, of.extent(extent)), index);
      weight = weight == null ? share : of.mul(weight, share);
    }
    Dim batch = x.type().dim(0);
    Shape line = Shape.of(batch, Dim.ONE, places);
    Value indices = of.broadcast(of.reshape(place, line), Shape.of(batch, x.type().dim(1), places));
    Value gathered = node.add(new Movement.GatherElements(2), image, indices);
    return of.mul(gathered, of.cast(of.reshape(weight, line), x.type().element()));
  }

  /**
   * Returns coordinates along an axis of the image in elements; the grid has the last axis first.
   */
  private Value place(int axis, int axes) {
    Value grid = node.input(1);
    int last = grid.type().rank() - 1;
    Value along = of.slice(grid, last, Dim.of(axes - 1L - axis), Dim.ONE);
    Value place = of.cast(of.reshape(along, Shape.of(x.type().dim(0), places)), ElementType.F32);
    Value extent = of.cast(of.extent(x.type().dim(2 + axis)), ElementType.F32);
    Value shifted = of.add(place, 1);
    return alignsCorners
        ? of.mul(of.mul(shifted, 0.5), of.add(extent, -1))
        : of.mul(of.add(of.mul(shifted, extent), -1), 0.5);
  }

  private List<Tap> taps(Value unbounded, Dim extent) {
    String mode = node.text("mode", "linear");
    // Cubic interpolation pads the neighbours, other modes pad the place.
    Value place = mode.endsWith("cubic") ? unbounded : bounded(unbounded, extent);
    return switch (mode) {
      case "nearest" -> {
        Value index = of.unary(UnaryFunction.ROUND, place);
        yield List.of(new Tap(index, ones(index)));
      }
      case "linear", "bilinear" -> {
        Value low = of.unary(UnaryFunction.FLOOR, place);
        Value high = of.sub(place, low);
        yield List.of(
            new Tap(low, of.add(of.unary(UnaryFunction.NEG, high), 1)),
            new Tap(of.add(low, 1), high));
      }
      case "cubic", "bicubic" -> cubic(place);
      default -> throw node.invalid("mode linear, nearest or cubic", mode);
    };
  }

  private Value ones(Value like) {
    return of.filled(node.scalarLike(like, 1), like.type().shape());
  }

  /** Returns the four neighbours of Keys' cubic convolution with a = -0.75. */
  private List<Tap> cubic(Value place) {
    double a = -0.75;
    Value low = of.unary(UnaryFunction.FLOOR, place);
    Value after = of.sub(place, low);
    Value before = of.add(of.unary(UnaryFunction.NEG, after), 1);
    return List.of(
        new Tap(of.add(low, -1), far(of.add(after, 1), a)),
        new Tap(low, near(after, a)),
        new Tap(of.add(low, 1), near(before, a)),
        new Tap(of.add(low, 2), far(of.add(before, 1), a)));
  }

  /** {@code (a+2) d³ - (a+3) d² + 1}. */
  private Value near(Value d, double a) {
    Value inner = of.add(of.mul(d, a + 2), -(a + 3));
    return of.add(of.mul(of.mul(inner, d), d), 1);
  }

  /** {@code a (d³ - 5 d² + 8 d - 4)}. */
  private Value far(Value d, double a) {
    Value inner = of.add(of.mul(of.add(d, -5), d), 8);
    return of.mul(of.add(of.mul(inner, d), -4), a);
  }

  /** Moves a place into the image according to the padding; zero padding keeps it. */
  private Value bounded(Value place, Dim extent) {
    if (padding == Padding.ZEROS) {
      return place;
    }
    Value last = of.cast(of.extent(extent.plus(Dim.of(-1))), place.type().element());
    return of.min(of.max(padded(place, extent), 0), last);
  }

  /** Reflects a place at the edges, if the padding reflects. */
  private Value padded(Value place, Dim extent) {
    if (padding != Padding.REFLECTION) {
      return place;
    }
    double low = alignsCorners ? 0 : -0.5;
    Value span =
        of.cast(
            of.extent(alignsCorners ? extent.plus(Dim.of(-1)) : extent), place.type().element());
    // The distance from the lower edge, as a triangle wave of twice the span.
    Value distance = of.unary(UnaryFunction.ABS, of.add(place, -low));
    Value period = of.mul(span, 2);
    Value waves = of.unary(UnaryFunction.FLOOR, of.div(distance, period));
    Value rest = of.sub(distance, of.mul(waves, period));
    Value folded = of.min(rest, of.sub(period, rest));
    return of.add(folded, low);
  }
}
