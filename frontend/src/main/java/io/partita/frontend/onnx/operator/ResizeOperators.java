package io.partita.frontend.onnx.operator;

import io.partita.frontend.onnx.NodeScope;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Contraction;
import io.partita.ir.op.Movement;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.Dim;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;
import java.util.ArrayList;
import java.util.List;

/**
 * Resize and Upsample, axis by axis: nearest is a gather, or a broadcast if all elements are
 * repeated equally often, and interpolation is a product with a constant matrix.
 */
final class ResizeOperators {
  private static final String BIND = "bind the dimensions with --dim";

  private final NodeScope node;
  private final Arithmetic of;

  private ResizeOperators(NodeScope node) {
    this.node = node;
    this.of = new Arithmetic(node);
  }

  static void register(OperatorRegistry registry) {
    registry.add("Upsample", node -> new ResizeOperators(node).upsample());
    registry.add(
        OperatorRegistry.ONNX, "Resize", 10, node -> new ResizeOperators(node).resizeByScales());
    registry.add(OperatorRegistry.ONNX, "Resize", 11, node -> new ResizeOperators(node).resize());
  }

  /** The resizing of one axis. */
  private record AxisPlan(int axis, Dim to, float scale, float start, float end) {}

  private void upsample() {
    if (!node.hasAttribute("scales")) {
      resizeByScales();
      return;
    }
    List<Float> scales = node.numbers("scales").stream().map(Double::floatValue).toList();
    apply(byScales(allAxes(), scales, List.of()), "asymmetric", "simple");
  }

  /** Before version 11, there were no coordinate modes. */
  private void resizeByScales() {
    apply(byScales(allAxes(), floats(1), List.of()), "asymmetric", "simple");
  }

  private void resize() {
    List<Integer> axes = axes();
    String coordinates = node.text("coordinate_transformation_mode", "half_pixel");
    List<Float> roi = coordinates.equals("tf_crop_and_resize") ? floats(1) : List.of();
    if (!roi.isEmpty() && roi.size() != 2 * axes.size()) {
      throw node.invalid("a start and an end for each of " + axes.size() + " axes", roi.toString());
    }
    boolean hasSizes = node.has(3) && !node.shape(3).size().is(0);
    List<AxisPlan> plans = hasSizes ? bySizes(axes, roi) : byScales(axes, floats(2), roi);
    apply(plans, coordinates, node.text("nearest_mode", "round_prefer_floor"));
  }

  private List<Integer> allAxes() {
    return Arithmetic.axes(0, node.shape(0).rank());
  }

  private List<Integer> axes() {
    int rank = node.shape(0).rank();
    return node.hasAttribute("axes")
        ? node.integers("axes").stream().map(axis -> node.axis(axis, rank)).toList()
        : allAxes();
  }

  private List<Float> floats(int input) {
    Tensor data = node.data(input);
    List<Float> values = new ArrayList<>();
    for (int i = 0; i < data.size(); i++) {
      values.add((float) data.getDouble(i));
    }
    return values;
  }

  private List<AxisPlan> byScales(List<Integer> axes, List<Float> scales, List<Float> roi) {
    if (scales.size() != axes.size()) {
      throw node.invalid("a scale for each of " + axes.size() + " axes", scales.toString());
    }
    List<AxisPlan> plans = new ArrayList<>();
    for (int i = 0; i < axes.size(); i++) {
      float scale = scales.get(i);
      if (!(scale > 0) || Float.isInfinite(scale)) {
        throw node.invalid("scales above 0", scales.toString());
      }
      plans.add(plan(axes, i, scaled(node.shape(0).dim(axes.get(i)), scale), scale, roi));
    }
    return plans;
  }

  private Dim scaled(Dim from, float scale) {
    if (from.isStatic()) {
      return Dim.of((long) (from.value() * scale));
    }
    if (scale != Math.rint(scale)) {
      throw node.unsupported("an extent of " + from + " scaled by " + scale, BIND);
    }
    return from.times(Dim.of((long) scale));
  }

  private List<AxisPlan> bySizes(List<Integer> axes, List<Float> roi) {
    List<Dim> sizes = node.dims(3);
    if (sizes.size() != axes.size()) {
      throw node.invalid("a size for each of " + axes.size() + " axes", sizes.toString());
    }
    String policy = node.text("keep_aspect_ratio_policy", "stretch");
    List<Float> scales = new ArrayList<>();
    for (int i = 0; i < axes.size(); i++) {
      Dim from = node.shape(0).dim(axes.get(i));
      if (from.equals(sizes.get(i))) {
        scales.add(1f);
      } else if (from.isStatic() && sizes.get(i).isStatic()) {
        scales.add((float) sizes.get(i).value() / from.value());
      } else {
        throw node.unsupported("resizing an extent of " + from + " to " + sizes.get(i), BIND);
      }
    }
    List<AxisPlan> plans = new ArrayList<>();
    for (int i = 0; i < axes.size(); i++) {
      if (policy.equals("stretch")) {
        plans.add(plan(axes, i, sizes.get(i), scales.get(i), roi));
        continue;
      }
      float scale =
          switch (policy) {
            case "not_larger" -> scales.stream().min(Float::compare).orElseThrow();
            case "not_smaller" -> scales.stream().max(Float::compare).orElseThrow();
            default -> throw node.invalid("stretch, not_larger or not_smaller", policy);
          };
      Dim from = node.shape(0).dim(axes.get(i));
      Dim to = from.isStatic() ? Dim.of(Math.round((double) scale * from.value())) : from;
      plans.add(plan(axes, i, to, scale, roi));
    }
    return plans;
  }

  private static AxisPlan plan(List<Integer> axes, int i, Dim to, float scale, List<Float> roi) {
    float start = roi.isEmpty() ? 0 : roi.get(i);
    float end = roi.isEmpty() ? 1 : roi.get(i + axes.size());
    return new AxisPlan(axes.get(i), to, scale, start, end);
  }

  private void apply(List<AxisPlan> plans, String coordinates, String rounding) {
    String mode = node.text("mode", "nearest");
    if (!List.of("nearest", "linear", "bilinear", "cubic", "bicubic").contains(mode)) {
      throw node.invalid("a mode of nearest, linear or cubic", mode);
    }
    boolean nearest = mode.equals("nearest");
    Value x = node.input(0);
    ElementType element = x.type().element();
    boolean narrow = !nearest && element != ElementType.F32 && element != ElementType.F64;
    Value y = narrow ? of.cast(x, ElementType.F32) : x;
    List<AxisPlan> outside = new ArrayList<>();
    for (AxisPlan plan : plans) {
      Dim from = node.shape(0).dim(plan.axis());
      boolean crop = coordinates.equals("tf_crop_and_resize");
      if (!crop && plan.scale() == 1 && from.equals(plan.to())) {
        continue;
      }
      if (nearest && !from.isStatic() && isRepetition(coordinates, rounding)) {
        y = repeated(y, plan.axis(), (long) plan.scale());
        continue;
      }
      ResizeCoordinates at = coordinates(plan, from, coordinates);
      y =
          nearest
              ? gathered(y, plan.axis(), at.nearest(rounding))
              : interpolated(y, plan.axis(), weights(at, mode));
      if (crop) {
        outside.add(plan);
      }
    }
    for (AxisPlan plan : outside) {
      y = extrapolated(y, plan, coordinates(plan, node.shape(0).dim(plan.axis()), coordinates));
    }
    node.output(0, narrow ? of.cast(y, element) : y);
  }

  private ResizeCoordinates coordinates(AxisPlan plan, Dim from, String mode) {
    if (!from.isStatic() || !plan.to().isStatic()) {
      throw node.unsupported("resizing an extent of " + from + " to " + plan.to(), BIND);
    }
    ResizeCoordinates coordinates =
        new ResizeCoordinates(
            mode,
            Math.toIntExact(from.value()),
            Math.toIntExact(plan.to().value()),
            plan.scale(),
            plan.start(),
            plan.end());
    if (!coordinates.isKnown()) {
      throw node.invalid("a coordinate_transformation_mode of the operator", mode);
    }
    if (coordinates.from() == 0 && coordinates.to() > 0) {
      throw node.invalid("an extent above 0 to resize", from.toString());
    }
    return coordinates;
  }

  private ResizeWeights weights(ResizeCoordinates coordinates, String mode) {
    return new ResizeWeights(
        coordinates,
        mode.endsWith("cubic"),
        node.number("cubic_coeff_a", -0.75),
        node.flag("exclude_outside", false),
        node.flag("antialias", false));
  }

  /**
   * Whether element i of an axis that grows by an integral factor k is the original element i / k.
   */
  private static boolean isRepetition(String coordinates, String rounding) {
    boolean halves = coordinates.equals("half_pixel") || coordinates.equals("pytorch_half_pixel");
    return halves && rounding.startsWith("round_prefer")
        || coordinates.equals("asymmetric")
            && (rounding.equals("floor") || rounding.equals("simple"));
  }

  /** {@code [n] -> [n, 1] -> [n, times] -> [n times]}. */
  private Value repeated(Value x, int axis, long times) {
    Shape shape = x.type().shape();
    Value split = of.reshape(x, shape.insert(axis + 1, Dim.ONE));
    Value expanded = of.broadcast(split, shape.insert(axis + 1, Dim.of(times)));
    return of.reshape(expanded, shape.with(axis, shape.dim(axis).times(Dim.of(times))));
  }

  private Value gathered(Value x, int axis, long[] indices) {
    long from = x.type().dim(axis).value();
    long times = from == 0 ? 0 : indices.length / from;
    boolean repeats = times >= 1 && indices.length == from * times;
    for (int i = 0; i < indices.length; i++) {
      repeats = repeats && indices[i] == i / times;
    }
    if (repeats) {
      return times == 1 ? x : repeated(x, axis, times);
    }
    Value at = node.constant(Tensor.longs(Shape.of(indices.length), indices));
    return node.add(new Movement.Gather(axis), x, at);
  }

  /** {@code [a…, n, b…] -> [a, n, b] -> [a, m, b] -> [a…, m, b…]}, the last axis from the right. */
  private Value interpolated(Value x, int axis, ResizeWeights weights) {
    double[] matrix = weights.matrix();
    int from = weights.coordinates().from();
    int to = weights.coordinates().to();
    if (isIdentity(matrix, from, to)) {
      return x;
    }
    Shape shape = x.type().shape();
    Shape result = shape.with(axis, Dim.of(to));
    Contraction.MatMul product = new Contraction.MatMul(x.type().element());
    if (axis == shape.rank() - 1) {
      double[] columns = new double[matrix.length];
      for (int i = 0; i < matrix.length; i++) {
        columns[i % from * to + i / from] = matrix[i];
      }
      Value right = matrix(x, from, to, columns);
      Value rows = of.reshape(x, Shape.of(shape.range(0, axis).size(), Dim.of(from)));
      return of.reshape(node.add(product, rows, right), result);
    }
    Dim outer = shape.range(0, axis).size();
    Dim inner = shape.range(axis + 1, shape.rank()).size();
    Value right = of.reshape(x, Shape.of(outer, Dim.of(from), inner));
    return of.reshape(node.add(product, matrix(x, to, from, matrix), right), result);
  }

  private Value matrix(Value like, long rows, long columns, double[] data) {
    return node.constant(
        Tensor.ofDoubles(TensorType.of(like.type().element(), rows, columns), data));
  }

  private static boolean isIdentity(double[] matrix, int from, int to) {
    boolean identity = from == to;
    for (int i = 0; identity && i < matrix.length; i++) {
      identity = matrix[i] == (i / from == i % from ? 1 : 0);
    }
    return identity;
  }

  private Value extrapolated(Value y, AxisPlan plan, ResizeCoordinates coordinates) {
    long[] outside = new long[coordinates.to()];
    boolean any = false;
    for (int i = 0; i < outside.length; i++) {
      outside[i] = coordinates.isOutside(i) ? 1 : 0;
      any |= outside[i] == 1;
    }
    if (!any) {
      return y;
    }
    TensorType type = TensorType.of(ElementType.BOOL, outside.length);
    Value where =
        of.alongAxis(node.constant(Tensor.ofLongs(type, outside)), plan.axis(), y.type().rank());
    Value value = node.scalarLike(y, node.number("extrapolation_value", 0));
    return of.select(where, value, y);
  }
}
