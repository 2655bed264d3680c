package io.partita.frontend.onnx.selection;

import io.partita.frontend.onnx.selection.Rows.Places;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Movement;
import io.partita.ir.type.Dim;
import io.partita.ir.type.Shape;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

/**
 * Gathers elements at selected rows. If the rows are all coordinates of an axis of the mask along
 * an axis of the data, the data already are all rows, and nothing is gathered.
 */
final class RowGathers {
  private final SelectedRows pass;
  private final RowBuilder of;
  private final Value data;
  private final Value indices;

  RowGathers(SelectedRows pass, Node node) {
    this.pass = pass;
    this.of = pass.of();
    this.data = node.operand(0);
    this.indices = node.operand(1);
  }

  Rows gather(int axis) {
    Optional<Rows> rows = pass.rows(data);
    return rows.isPresent() ? ofRows(rows.get(), axis) : atRows(axis);
  }

  /** Gathers by plain indices along an axis other than that of the rows. */
  private Rows ofRows(Rows x, int axis) {
    if (axis == x.axis()) {
      throw new SelectedRows.UnsupportedRows("a subset of the rows by index");
    }
    Value at = pass.plain(indices);
    Value full = of.add(new Movement.Gather(x.mapped(axis)), x.full(), at);
    int added = at.type().rank() - 1;
    int rowAxis = axis < x.axis() ? x.axis() + added : x.axis();
    return new Rows(x.selection(), rowAxis, full, x.places().flatMap(p -> picked(p, axis, added)));
  }

  private Optional<Places> picked(Places places, int axis, int added) {
    if (places.axis() < 0) {
      return Optional.of(places);
    }
    Optional<List<Dim>> at = pass.known(indices);
    if (places.axis() != axis || at.isEmpty() || added > 0) {
      return Optional.empty();
    }
    List<Affine> entries = new ArrayList<>();
    for (Dim index : at.get()) {
      long place = index.value();
      int size = places.entries().size();
      entries.add(places.entries().get((int) (place < 0 ? place + size : place)));
    }
    return Optional.of(new Places(entries.size() == 1 ? -1 : axis, entries));
  }

  private Rows atRows(int axis) {
    Rows at = pass.rows(indices).orElseThrow();
    Value values = pass.plain(data);
    int rowAxis = axis + at.axis();
    boolean single = indices.type().shape().with(at.axis(), Dim.ONE).size().is(1);
    Optional<Affine> place =
        at.places().filter(p -> p.axis() < 0 && single).map(p -> p.entries().getFirst());
    List<Dim> extents = at.selection().extents().dims();
    List<Integer> axes =
        place.map(p -> p.rowMajor(extents, values.type().dim(axis))).orElse(List.of());
    Value full;
    if (axes.isEmpty()) {
      full = of.add(new Movement.Gather(axis), values, at.full());
    } else {
      Value inOrder = inMaskOrder(values, axis, axes, at.selection());
      Shape shape = indices.type().shape();
      List<Dim> dims = new ArrayList<>(values.type().shape().range(0, axis).dims());
      dims.addAll(RowBuilder.ones(at.axis()));
      dims.addAll(inOrder.type().shape().dims().subList(axis, axis + at.selection().rank()));
      dims.addAll(RowBuilder.ones(shape.rank() - 1 - at.axis()));
      dims.addAll(values.type().shape().range(axis + 1, values.type().rank()).dims());
      full = of.reshape(inOrder, new Shape(dims));
    }
    return new Rows(at.selection(), rowAxis, full, Optional.empty());
  }

  /**
   * Splits {@code axis} into the dimensions of the mask in {@code axes}, outermost first, then
   * transposes them to the order of the mask, with extents of 1 for its other dimensions.
   */
  private Value inMaskOrder(Value x, int axis, List<Integer> axes, Selection selection) {
    List<Dim> cut = axes.stream().map(selection.extents()::dim).toList();
    Value split = of.reshape(x, RowBuilder.spread(x.type().shape(), axis, cut));
    return ordered(of, split, axis, axes, selection);
  }

  /** Like {@link #inMaskOrder}, for separate dimensions from {@code axis}. */
  static Value ordered(
      RowBuilder of, Value split, int axis, List<Integer> axes, Selection selection) {
    List<Integer> sorted = axes.stream().sorted().toList();
    List<Integer> permutation = new ArrayList<>();
    for (int i = 0; i < split.type().rank(); i++) {
      boolean isRow = i >= axis && i < axis + axes.size();
      permutation.add(isRow ? axis + axes.indexOf(sorted.get(i - axis)) : i);
    }
    Value moved = of.transpose(split, permutation);
    List<Dim> dims = new ArrayList<>(moved.type().shape().dims());
    List<Dim> extents =
        IntStream.range(0, selection.rank())
            .mapToObj(j -> axes.contains(j) ? selection.extents().dim(j) : Dim.ONE)
            .toList();
    dims.subList(axis, axis + axes.size()).clear();
    dims.addAll(axis, extents);
    return of.reshape(moved, new Shape(dims));
  }

  /** Returns the axes of the mask whose coordinates are the entries of index tuples. */
  static List<Integer> axes(Rows at, Shape data) {
    List<Integer> axes = new ArrayList<>();
    for (Affine entry : at.places().map(Places::entries).orElse(List.of())) {
      int axis = entry.axis();
      boolean whole =
          axis >= 0
              && !axes.contains(axis)
              && data.dim(axes.size()).equals(at.selection().extents().dim(axis));
      if (!whole) {
        return List.of();
      }
      axes.add(axis);
    }
    return axes;
  }

  Rows gatherNd() {
    Rows at =
        pass.rows(indices)
            .orElseThrow(() -> new SelectedRows.UnsupportedRows("rows gathered by index tuples"));
    Value values = pass.plain(data);
    int last = indices.type().rank() - 1;
    if (at.axis() == last) {
      throw new SelectedRows.UnsupportedRows("rows as the entries of index tuples");
    }
    List<Integer> axes =
        indices.type().shape().range(0, last).size().equals(at.selection().count())
            ? axes(at, values.type().shape())
            : List.of();
    if (axes.isEmpty()) {
      Value full = of.add(new Movement.GatherNd(0), values, at.full());
      return new Rows(at.selection(), at.axis(), full, Optional.empty());
    }
    Value inOrder = ordered(of, values, 0, axes, at.selection());
    List<Dim> dims = new ArrayList<>(RowBuilder.ones(at.axis()));
    dims.addAll(inOrder.type().shape().dims().subList(0, at.selection().rank()));
    dims.addAll(RowBuilder.ones(last - 1 - at.axis()));
    dims.addAll(values.type().shape().range(axes.size(), values.type().rank()).dims());
    return new Rows(
        at.selection(), at.axis(), of.reshape(inOrder, new Shape(dims)), Optional.empty());
  }
}
