package io.partita.frontend.onnx.selection;

import io.partita.ir.function.BinaryFunction;
import io.partita.ir.function.Combine;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Movement.PadMode;
import io.partita.ir.op.Source;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.Dim;
import io.partita.ir.type.Shape;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

/**
 * Scatters selected rows. If their positions are coordinates of the mask, each element of the data
 * is combined with the rows of its position in order, if selected: {@code mask ? data + row :
 * data}. Otherwise, unselected rows go to a position after the data, which is removed.
 */
final class RowScatters {
  /**
   * The largest number of rows of one position that are combined one by one, such as the experts of
   * a token.
   */
  private static final long MAX_UPDATES = 16;

  private final SelectedRows pass;
  private final RowBuilder of;
  private final Node node;
  private final Value data;
  private final Rows at;
  private final Selection selection;

  RowScatters(SelectedRows pass, Node node) {
    this.pass = pass;
    this.of = pass.of();
    this.node = node;
    this.data = pass.plain(node.operand(0));
    this.at =
        pass.rows(node.operand(1))
            .orElseThrow(
                () ->
                    new SelectedRows.UnsupportedRows(
                        "rows scattered to positions that no selection gives"));
    this.selection = at.selection();
  }

  /** Returns all updates with the dimensions of rows at {@code axis}; other values broadcast. */
  private Value updates(int axis) {
    Value updates = node.operand(2);
    if (pass.rows(updates).isPresent()) {
      Rows rows = pass.rows(updates).get();
      if (rows.axis() != axis || rows.selection() != selection) {
        throw new SelectedRows.UnsupportedRows("rows scattered to positions of other rows");
      }
      return rows.full();
    }
    throw new SelectedRows.UnsupportedRows("unselected rows scattered to selected positions");
  }

  /** Scatters along one axis, with one position per row. */
  void elements(Movement.ScatterElements scatter) {
    int axis = scatter.axis();
    Shape shape = data.type().shape();
    Shape indices = node.operand(1).type().shape();
    int mask =
        at.places().filter(p -> p.axis() < 0).map(p -> p.entries().getFirst().axis()).orElse(-1);
    boolean byRow =
        at.axis() == axis
            && mask >= 0
            && shape.dim(axis).equals(selection.extents().dim(mask))
            && indices.with(axis, shape.dim(axis)).equals(shape)
            && isFew(List.of(mask));
    if (byRow) {
      Value rows = updates(axis);
      pass.give(node.result(), joined(rows, axis, List.of(mask), scatter.reduction()));
      return;
    }
    Dim behind = shape.dim(axis);
    Value padded = padded(axis);
    Value places = kept(at, sentinel(at.full(), behind));
    Rows places2 = new Rows(selection, at.axis(), places, Optional.empty());
    Rows rows = new Rows(selection, at.axis(), updates(at.axis()), Optional.empty());
    Value scattered = of.add(scatter, padded, of.flattened(places2), of.flattened(rows));
    pass.give(node.result(), cut(scattered));
  }

  /** Scatters by index tuples in the last dimension of the indices. */
  void tuples(Movement.ScatterNd scatter) {
    int last = node.operand(1).type().rank() - 1;
    if (at.axis() == last) {
      throw new SelectedRows.UnsupportedRows("rows as the entries of index tuples");
    }
    Value rows = updates(at.axis());
    List<Integer> axes =
        node.operand(1).type().shape().range(0, last).size().equals(selection.count())
            ? RowGathers.axes(at, data.type().shape())
            : List.of();
    if (!axes.isEmpty() && isFew(axes)) {
      List<Dim> dims = new ArrayList<>(RowBuilder.rowExtents(rowsOf(rows)));
      dims.addAll(data.type().shape().range(axes.size(), data.type().rank()).dims());
      Value first = of.reshape(rows, new Shape(dims));
      pass.give(node.result(), joined(first, 0, axes, scatter.reduction()));
      return;
    }
    Dim behind = data.type().dim(0);
    Value chosen = kept(at, sentinel(at.full(), behind));
    // A negative index would count from the end of the padded data; the first index decides.
    Rows places = new Rows(selection, at.axis(), firstOf(chosen), Optional.empty());
    Value scattered = of.add(scatter, padded(0), of.flattened(places), of.flattened(rowsOf(rows)));
    pass.give(node.result(), cut(scattered));
  }

  private Rows rowsOf(Value full) {
    return new Rows(selection, at.axis(), full, Optional.empty());
  }

  /** Whether a position has few rows, along the axes of the mask that aren't positions. */
  private boolean isFew(List<Integer> axes) {
    Dim count = Dim.ONE;
    for (int j = 0; j < selection.rank(); j++) {
      count = axes.contains(j) ? count : count.times(selection.extents().dim(j));
    }
    return count.isStatic() && count.value() <= MAX_UPDATES;
  }

  /**
   * Combines each element of the data with the rows of its position.
   *
   * @param rows the rows, with the dimensions of the mask from {@code axis}
   * @param axes the axes of the mask whose coordinates are positions along the axes of the data
   *     from {@code axis}
   */
  private Value joined(Value rows, int axis, List<Integer> axes, Combine reduction) {
    List<Integer> others =
        IntStream.range(0, selection.rank()).filter(j -> !axes.contains(j)).boxed().toList();
    Value mask = pass.mask(selection);
    Value result = data;
    long count = 1;
    for (int j : others) {
      count *= selection.extents().extent(j);
    }
    for (long i = 0; i < count; i++) {
      Value row = placed(picked(rows, axis, others, i), axis, axes);
      Value chosen = placed(picked(mask, 0, others, i), 0, axes);
      int after = data.type().rank() - axis - axes.size();
      List<Dim> dims = new ArrayList<>(chosen.type().shape().dims());
      dims.addAll(RowBuilder.ones(after));
      Value where = of.reshape(chosen, new Shape(dims));
      result = of.add(new Elementwise.Select(), where, combined(result, row, reduction), result);
    }
    return result;
  }

  private Value combined(Value before, Value row, Combine reduction) {
    return reduction
        .function()
        .map(function -> of.binary(function, before, row))
        .orElseGet(() -> of.broadcast(row, before.type().shape()));
  }

  /**
   * Returns combination {@code number} of the coordinates along {@code others}, with extents of 1.
   */
  private Value picked(Value x, int axis, List<Integer> others, long number) {
    Value part = x;
    long rest = number;
    for (int k = others.size() - 1; k >= 0; k--) {
      long extent = selection.extents().extent(others.get(k));
      int along = axis + others.get(k);
      long place = x.type().dim(along).is(1) ? 0 : rest % extent;
      rest /= extent;
      Shape shape = part.type().shape();
      List<Dim> starts = new ArrayList<>(Collections.nCopies(shape.rank(), Dim.ZERO));
      starts.set(along, Dim.of(place));
      List<Long> steps = Collections.nCopies(shape.rank(), 1L);
      Shape sizes = shape.with(along, Dim.ONE);
      if (!sizes.equals(shape)) {
        part = of.add(new Movement.Slice(starts, sizes.dims(), steps), part);
      }
    }
    return part;
  }

  /**
   * Reshapes dimensions of the mask, which are 1 unless they are positions, to those of positions.
   */
  private Value placed(Value x, int axis, List<Integer> axes) {
    Shape shape = x.type().shape();
    List<Dim> dims = new ArrayList<>(shape.range(0, axis).dims());
    List<Integer> sorted = axes.stream().sorted().toList();
    sorted.forEach(j -> dims.add(shape.dim(axis + j)));
    dims.addAll(shape.range(axis + selection.rank(), shape.rank()).dims());
    Value kept = of.reshape(x, new Shape(dims));
    List<Integer> permutation = new ArrayList<>();
    for (int i = 0; i < dims.size(); i++) {
      boolean isPlace = i >= axis && i < axis + axes.size();
      permutation.add(isPlace ? axis + sorted.indexOf(axes.get(i - axis)) : i);
    }
    return of.transpose(kept, permutation);
  }

  /** Returns {@code places} where the mask is true, else {@code otherwise}. */
  private Value kept(Rows places, Value otherwise) {
    Value extent = otherwise;
    Value wrapped =
        of.add(
            new Elementwise.Select(),
            of.binary(BinaryFunction.LESS, places.full(), of.scalarLike(places.full(), 0)),
            of.binary(BinaryFunction.ADD, places.full(), extent),
            places.full());
    return of.add(
        new Elementwise.Select(), of.maskFor(places, pass.mask(selection)), wrapped, otherwise);
  }

  /** Returns the position after the data. */
  private Value sentinel(Value like, Dim extent) {
    Value number =
        extent.isStatic()
            ? of.graph().constant(Tensor.longs(Shape.SCALAR, extent.value()))
            : of.add(new Source.Extent(extent));
    return like.type().element() == number.type().element()
        ? number
        : of.add(new Elementwise.Cast(like.type().element()), number);
  }

  /** Returns index tuples with a replaced first number. */
  private Value firstOf(Value chosen) {
    Value all = of.expanded(rowsOf(at.full()));
    int last = all.type().rank() - 1;
    long size = all.type().shape().extent(last);
    if (size == 1) {
      return chosen;
    }
    Value expanded = of.broadcast(chosen, all.type().shape());
    Value first = part(expanded, last, 0, 1);
    Value rest = part(all, last, 1, size - 1);
    return of.add(new Movement.Concat(last), first, rest);
  }

  private Value part(Value x, int axis, long start, long size) {
    List<Dim> starts = new ArrayList<>(Collections.nCopies(x.type().rank(), Dim.ZERO));
    starts.set(axis, Dim.of(start));
    Shape sizes = x.type().shape().with(axis, Dim.of(size));
    return of.add(
        new Movement.Slice(starts, sizes.dims(), Collections.nCopies(x.type().rank(), 1L)), x);
  }

  private Value padded(int axis) {
    int rank = data.type().rank();
    List<Long> high = new ArrayList<>(Collections.nCopies(rank, 0L));
    high.set(axis, 1L);
    return of.add(
        new Movement.Pad(PadMode.CONSTANT, Collections.nCopies(rank, 0L), high),
        data,
        of.scalarLike(data, 0));
  }

  /** Removes the padding. */
  private Value cut(Value scattered) {
    int rank = data.type().rank();
    return of.add(
        new Movement.Slice(
            Collections.nCopies(rank, Dim.ZERO),
            data.type().shape().dims(),
            Collections.nCopies(rank, 1L)),
        scattered);
  }
}
