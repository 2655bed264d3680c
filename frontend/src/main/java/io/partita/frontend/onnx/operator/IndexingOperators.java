package io.partita.frontend.onnx.operator;

import io.partita.frontend.onnx.NodeScope;
import io.partita.ir.function.Combine;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Movement.PadMode;
import io.partita.ir.type.Dim;
import io.partita.ir.type.Shape;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/** Operators that read or write parts of a tensor, or pad it. */
final class IndexingOperators {
  private IndexingOperators() {}

  static void register(OperatorRegistry registry) {
    registry.add("Slice", IndexingOperators::sliceByAttributes);
    registry.add(OperatorRegistry.ONNX, "Slice", 10, IndexingOperators::sliceByOperands);
    registry.add("Split", IndexingOperators::split);
    registry.add(
        "Gather",
        node -> {
          int axis = node.axis(node.integer("axis", 0), node.shape(0).rank());
          node.output(0, node.add(new Movement.Gather(axis), node.input(0), node.input(1)));
        });
    registry.add(
        "GatherElements",
        node -> {
          int axis = node.axis(node.integer("axis", 0), node.shape(0).rank());
          node.output(0, node.add(new Movement.GatherElements(axis), node.input(0), node.input(1)));
        });
    registry.add(
        "GatherND",
        node -> {
          int batch = Math.toIntExact(node.integer("batch_dims", 0));
          node.output(0, node.add(new Movement.GatherNd(batch), node.input(0), node.input(1)));
        });
    registry.add("Scatter", IndexingOperators::scatterElements);
    registry.add("ScatterElements", IndexingOperators::scatterElements);
    registry.add(
        "ScatterND",
        node ->
            node.output(
                0,
                node.add(
                    new Movement.ScatterNd(reduction(node)),
                    node.input(0),
                    node.input(1),
                    node.input(2))));
    registry.add("Pad", IndexingOperators::padByAttributes);
    registry.add(OperatorRegistry.ONNX, "Pad", 11, IndexingOperators::padByOperands);
  }

  private static Combine reduction(NodeScope node) {
    return switch (node.text("reduction", "none")) {
      case "none" -> Combine.REPLACE;
      case "add" -> Combine.ADD;
      case "mul" -> Combine.MUL;
      case "min" -> Combine.MIN;
      case "max" -> Combine.MAX;
      case String other -> throw node.invalid("reduction none, add, mul, min or max", other);
    };
  }

  private static void scatterElements(NodeScope node) {
    int axis = node.axis(node.integer("axis", 0), node.shape(0).rank());
    node.output(
        0,
        node.add(
            new Movement.ScatterElements(axis, reduction(node)),
            node.input(0),
            node.input(1),
            node.input(2)));
  }

  private static void sliceByAttributes(NodeScope node) {
    List<Dim> starts = node.integers("starts").stream().map(start -> Dim.of(start)).toList();
    List<Dim> ends = node.integers("ends").stream().map(end -> Dim.of(end)).toList();
    List<Long> axes = node.integers("axes", indices(starts.size()));
    slice(node, starts, ends, axes, Collections.nCopies(starts.size(), 1L));
  }

  private static void sliceByOperands(NodeScope node) {
    if (node.hasAttribute("starts")) {
      sliceByAttributes(node);
      return;
    }
    List<Dim> starts = node.dims(1);
    List<Long> axes = node.has(3) ? node.longs(3) : indices(starts.size());
    List<Long> steps = node.has(4) ? node.longs(4) : Collections.nCopies(starts.size(), 1L);
    slice(node, starts, node.dims(2), axes, steps);
  }

  private static List<Long> indices(int count) {
    List<Long> indices = new ArrayList<>();
    for (long i = 0; i < count; i++) {
      indices.add(i);
    }
    return indices;
  }

  private static void slice(
      NodeScope node, List<Dim> starts, List<Dim> ends, List<Long> axes, List<Long> steps) {
    Shape shape = node.shape(0);
    if (ends.size() != starts.size()
        || axes.size() != starts.size()
        || steps.size() != starts.size()) {
      throw node.invalid(
          "as many starts as ends, axes and steps",
          starts.size() + ", " + ends.size() + ", " + axes.size() + " and " + steps.size());
    }
    List<Dim> from = new ArrayList<>(Collections.nCopies(shape.rank(), Dim.ZERO));
    List<Dim> sizes = new ArrayList<>(shape.dims());
    List<Long> by = new ArrayList<>(Collections.nCopies(shape.rank(), 1L));
    for (int i = 0; i < axes.size(); i++) {
      int axis = node.axis(axes.get(i), shape.rank());
      long step = steps.get(i);
      if (step == 0 || step == Long.MIN_VALUE) {
        throw node.invalid("steps other than 0", steps.toString());
      }
      Dim extent = shape.dim(axis);
      Dim start = bounded(starts.get(i), extent, step);
      Dim end = bounded(ends.get(i), extent, step);
      Dim size = places(node, start, end, step);
      from.set(axis, size.is(0) ? Dim.ZERO : start);
      sizes.set(axis, size);
      by.set(axis, step);
    }
    node.output(0, node.add(new Movement.Slice(from, sizes, by), node.input(0)));
  }

  /**
   * Returns a start or end counted from the front and clamped: to {@code [0, extent]} for a
   * positive step, to {@code [-1, extent-1]} for a negative one.
   */
  private static Dim bounded(Dim index, Dim extent, long step) {
    Dim low = step > 0 ? Dim.ZERO : Dim.of(-1);
    Dim high = step > 0 ? extent : extent.plus(-1);
    // Exporters write "to the end" as the largest number of 64 or 32 bits.
    if (index.isStatic() && index.value() >= Integer.MAX_VALUE && !extent.isStatic()) {
      return high;
    }
    if (index.isStatic() && index.value() <= Integer.MIN_VALUE && !extent.isStatic()) {
      return low;
    }
    if (index.isStatic() && extent.isStatic()) {
      long i = index.value();
      long fromFront = i < 0 ? Math.max(i, -extent.value() - 1) + extent.value() : i;
      return Dim.of(Math.clamp(fromFront, low.value(), Math.max(low.value(), high.value())));
    }
    Dim fromFront = isNegative(index) ? index.plus(extent) : index;
    if (fromFront.minus(high).isAtLeast(0)) {
      return high;
    }
    if (low.minus(fromFront).isAtLeast(0)) {
      return low;
    }
    if (fromFront.minus(low).isAtLeast(0) && high.minus(fromFront).isAtLeast(0)) {
      return fromFront;
    }
    // Clamping is unknown. Slices of real models are in range.
    return fromFront;
  }

  private static boolean isNegative(Dim index) {
    return Dim.of(-1).minus(index).isAtLeast(0);
  }

  /** Returns ceil((end - start) / step), at least 0. */
  private static Dim places(NodeScope node, Dim start, Dim end, long step) {
    Dim span = step > 0 ? end.minus(start) : start.minus(end);
    Dim stride = Dim.of(Math.abs(step));
    if (span.isStatic()) {
      return Dim.of(Math.max(0, Math.ceilDiv(span.value(), stride.value())));
    }
    if (Dim.ZERO.minus(span).isAtLeast(0)) {
      return Dim.ZERO;
    }
    Dim size = step == 1 || step == -1 ? span : span.dividedExactlyBy(stride);
    if (size == null) {
      throw node.unsupported(
          "a slice of " + span + " elements by steps of " + step, "bind the dimensions with --dim");
    }
    return size;
  }

  /**
   * Returns the sizes of an attribute (before version 13) or operand; else equal sizes, the last of
   * which may be smaller (since version 18).
   */
  private static void split(NodeScope node) {
    int axis = node.axis(node.integer("axis", 0), node.shape(0).rank());
    Dim extent = node.shape(0).dim(axis);
    List<Dim> sizes;
    if (node.hasAttribute("split")) {
      sizes = node.integers("split").stream().map(size -> Dim.of(size)).toList();
    } else if (node.has(1)) {
      sizes = node.dims(1);
    } else {
      sizes = equalSizes(node, extent, node.integer("num_outputs", node.outputs()));
    }
    if (sizes.size() < node.outputs()) {
      throw node.invalid("a size for each of " + node.outputs() + " outputs", sizes.toString());
    }
    Dim sum = sizes.stream().reduce(Dim.ZERO, Dim::plus);
    node.requireExtent(extent, sum);
    if (!sum.equals(extent)) {
      throw node.invalid("sizes that sum to " + extent, sizes.toString());
    }
    Dim start = Dim.ZERO;
    for (int i = 0; i < node.outputs(); i++) {
      if (node.wants(i)) {
        node.output(i, new Arithmetic(node).slice(node.input(0), axis, start, sizes.get(i)));
      }
      start = start.plus(sizes.get(i));
    }
  }

  private static List<Dim> equalSizes(NodeScope node, Dim extent, long parts) {
    if (parts < 1 || parts > 1 << 20) {
      throw node.invalid("one output or more", Long.toString(parts));
    }
    Dim equal = extent.dividedExactlyBy(Dim.of(parts));
    if (equal != null) {
      return Collections.nCopies((int) parts, equal);
    }
    if (!extent.isStatic()) {
      throw node.unsupported(
          "splitting " + extent + " into " + parts + " parts", "bind the dimensions with --dim");
    }
    long size = Math.ceilDiv(extent.value(), parts);
    List<Dim> sizes = new ArrayList<>();
    for (long rest = extent.value(); sizes.size() < parts; rest -= size) {
      sizes.add(Dim.of(Math.clamp(rest, 0, size)));
    }
    return sizes;
  }

  private static void padByAttributes(NodeScope node) {
    List<Long> pads = node.integers(node.hasAttribute("paddings") ? "paddings" : "pads");
    Value value = node.scalarLike(node.input(0), node.number("value", 0));
    pad(node, pads, indices(node.shape(0).rank()), Optional.of(value));
  }

  /** Some exporters keep the attributes of older versions. */
  private static void padByOperands(NodeScope node) {
    if (node.hasAttribute("pads")) {
      padByAttributes(node);
      return;
    }
    if (!node.has(1) && node.hasAttribute("pads")) {
      // Exporters for integer chips still write attributes.
      padByAttributes(node);
      return;
    }
    List<Long> axes = node.has(3) ? node.longs(3) : indices(node.shape(0).rank());
    pad(node, node.longs(1), axes, node.optionalInput(2));
  }

  private static void pad(NodeScope node, List<Long> pads, List<Long> axes, Optional<Value> value) {
    int rank = node.shape(0).rank();
    if (pads.size() != 2 * axes.size()) {
      throw node.invalid("two paddings per axis of " + axes.size() + " axes", pads.toString());
    }
    List<Long> low = new ArrayList<>(Collections.nCopies(rank, 0L));
    List<Long> high = new ArrayList<>(Collections.nCopies(rank, 0L));
    for (int i = 0; i < axes.size(); i++) {
      int axis = node.axis(axes.get(i), rank);
      low.set(axis, pads.get(i));
      high.set(axis, pads.get(i + axes.size()));
    }
    String name = node.text("mode", "constant");
    PadMode mode =
        switch (name) {
          case "constant" -> PadMode.CONSTANT;
          case "reflect" -> PadMode.REFLECT;
          case "edge" -> PadMode.EDGE;
          case "wrap" -> PadMode.WRAP;
          case String other -> throw node.invalid(modes(), other);
        };
    Movement.Pad op = new Movement.Pad(mode, low, high);
    if (mode == PadMode.CONSTANT) {
      Arithmetic of = new Arithmetic(node);
      Value filler = value.orElseGet(() -> node.scalarLike(node.input(0), 0));
      node.output(0, node.add(op, node.input(0), of.reshape(filler, Shape.SCALAR)));
    } else {
      node.output(0, node.add(op, node.input(0)));
    }
  }

  private static String modes() {
    StringBuilder modes = new StringBuilder("a mode of");
    for (PadMode mode : PadMode.values()) {
      modes.append(' ').append(mode.name().toLowerCase(Locale.ROOT));
    }
    return modes.toString();
  }
}
