package io.partita.ir.arbitrary;

import io.partita.ir.op.Contraction;
import io.partita.ir.op.Op;
import io.partita.ir.op.Window;
import io.partita.ir.tensor.NibblePanels;
import io.partita.ir.type.Dim;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/** Random operations of {@link Contraction}. */
final class ContractionSamples {
  private ContractionSamples() {}

  static void addTo(Map<Class<? extends Op>, Function<Draw, OpSample>> all) {
    all.put(Contraction.MatMul.class, ContractionSamples::matMul);
    all.put(Contraction.Einsum.class, ContractionSamples::einsum);
    all.put(Contraction.Convolution.class, ContractionSamples::convolution);
    all.put(Contraction.TransposedConvolution.class, ContractionSamples::transposedConvolution);
    all.put(Contraction.Pool.class, ContractionSamples::pool);
    all.put(Contraction.NibbleMatMul.class, ContractionSamples::nibbleMatMul);
    all.put(Contraction.NearestCentroid.class, ContractionSamples::nearestCentroid);
  }

  /** Element types of left, right and result. */
  private static List<ElementType> accumulation(Draw draw) {
    if (draw.flag()) {
      ElementType element = draw.floating();
      return List.of(element, element, element);
    }
    ElementType left = draw.element(type -> type.isInteger() && type.bits() <= 32);
    ElementType right = draw.element(type -> type.isInteger() && type.bits() <= 32);
    return List.of(left, right, draw.one(ElementType.I32, ElementType.I64));
  }

  private static OpSample matMul(Draw draw) {
    List<ElementType> elements = accumulation(draw);
    Shape batch = draw.shape(0, 2);
    Dim inner = draw.dim();
    return OpSample.of(
        new Contraction.MatMul(elements.get(2)),
        new TensorType(elements.get(0), batch.concat(Shape.of(draw.dim(), inner))),
        new TensorType(
            elements.get(1), draw.broadcastingTo(batch).concat(Shape.of(inner, draw.dim()))));
  }

  private static OpSample einsum(Draw draw) {
    Shape extents = draw.shape(4);
    StringBuilder equation = new StringBuilder();
    List<TensorType> operands = new ArrayList<>();
    ElementType element = draw.numeric();
    List<Integer> used = new ArrayList<>();
    for (int i = draw.from(1, 3); i > 0; i--) {
      List<Integer> axes = draw.axes(4);
      equation.append(operands.isEmpty() ? "" : ",");
      axes.forEach(axis -> equation.append("bijK".charAt(axis)));
      used.addAll(axes);
      operands.add(new TensorType(element, new Shape(axes.stream().map(extents::dim).toList())));
    }
    equation.append("->");
    used.stream()
        .distinct()
        .filter(axis -> draw.flag())
        .forEach(axis -> equation.append("bijK".charAt(axis)));
    return new OpSample(new Contraction.Einsum(equation.toString()), operands);
  }

  private static int spatialRank(Draw draw) {
    return draw.from(1, draw.isWide() ? 3 : 2);
  }

  private static Window window(Draw draw, int spatial) {
    List<List<Long>> lists = new ArrayList<>();
    for (int[] range : new int[][] {{1, 2}, {1, 3}, {1, 2}, {0, 2}, {0, 2}}) {
      List<Long> list = new ArrayList<>();
      for (int axis = 0; axis < spatial; axis++) {
        list.add((long) draw.from(range[0], range[1]));
      }
      lists.add(list);
    }
    return new Window(lists.get(0), lists.get(1), lists.get(2), lists.get(3), lists.get(4));
  }

  private static Shape spatial(Draw draw, int rank) {
    List<Dim> dims = new ArrayList<>();
    for (int axis = 0; axis < rank; axis++) {
      dims.add(Dim.of(draw.from(5, 8)));
    }
    return new Shape(dims);
  }

  private static Shape kernel(Window window) {
    return new Shape(window.kernel().stream().map(extent -> Dim.of(extent)).toList());
  }

  private static OpSample convolution(Draw draw) {
    List<ElementType> elements = accumulation(draw);
    int rank = spatialRank(draw);
    Window window = window(draw, rank);
    long groups = draw.from(1, 2);
    long inner = draw.from(1, 3);
    long filters = groups * draw.from(1, 3);
    boolean bias = draw.flag();
    List<TensorType> operands = new ArrayList<>();
    operands.add(
        new TensorType(
            elements.get(0),
            Shape.of(draw.dim(), Dim.of(groups * inner)).concat(spatial(draw, rank))));
    operands.add(new TensorType(elements.get(1), Shape.of(filters, inner).concat(kernel(window))));
    if (bias) {
      operands.add(TensorType.of(elements.get(2), filters));
    }
    return new OpSample(
        new Contraction.Convolution(window, groups, bias, elements.get(2)), operands);
  }

  private static OpSample transposedConvolution(Draw draw) {
    ElementType element = draw.floating();
    int rank = draw.from(1, 2);
    Window window = window(draw, rank);
    long groups = draw.from(1, 2);
    long channels = groups * draw.from(1, 3);
    long inner = draw.from(1, 3);
    boolean bias = draw.flag();
    List<TensorType> operands = new ArrayList<>();
    operands.add(
        new TensorType(
            element, Shape.of(draw.dim(), Dim.of(channels)).concat(spatial(draw, rank))));
    operands.add(new TensorType(element, Shape.of(channels, inner).concat(kernel(window))));
    if (bias) {
      operands.add(TensorType.of(element, groups * inner));
    }
    return new OpSample(new Contraction.TransposedConvolution(window, groups, bias), operands);
  }

  private static OpSample pool(Draw draw) {
    boolean largest = draw.flag();
    int rank = spatialRank(draw);
    return OpSample.of(
        new Contraction.Pool(
            largest, window(draw, rank), draw.flag(), draw.flag(), largest && draw.flag()),
        new TensorType(
            largest ? draw.numeric() : draw.floating(), draw.shape(2).concat(spatial(draw, rank))));
  }

  private static OpSample nibbleMatMul(Draw draw) {
    long panels = draw.from(1, 4);
    long groups = draw.from(1, 4);
    long rows = (long) NibblePanels.GRANULE * draw.from(1, 3);
    return OpSample.of(
        new Contraction.NibbleMatMul(),
        new TensorType(
            draw.one(ElementType.I8, ElementType.U8),
            draw.shape(0, 3).concat(Shape.of(groups * rows))),
        TensorType.of(ElementType.U8, panels, groups, NibblePanels.bytes(rows)),
        TensorType.of(
            draw.one(ElementType.F32, ElementType.BF16), panels, groups, NibblePanels.COLUMNS));
  }

  private static OpSample nearestCentroid(Draw draw) {
    long groups = draw.from(1, 3);
    long width = draw.from(1, 4);
    return OpSample.of(
        new Contraction.NearestCentroid(groups),
        new TensorType(ElementType.F32, draw.shape(0, 3).concat(Shape.of(groups * width))),
        TensorType.of(ElementType.F32, groups * draw.from(1, 9), width));
  }
}
