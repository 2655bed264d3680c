package io.partita.frontend.onnx.selection;

import io.partita.frontend.onnx.selection.Rows.Places;
import io.partita.ir.function.BinaryFunction;
import io.partita.ir.function.ReductionKind;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Contraction;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Op;
import io.partita.ir.op.Reduction;
import io.partita.ir.op.Source;
import io.partita.ir.op.Structured;
import io.partita.ir.type.Dim;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

/** An operation on all rows instead of the selected ones. */
final class RowOperations {
  private final SelectedRows pass;
  private final RowBuilder of;
  private final Node node;
  private final Shape result;

  RowOperations(SelectedRows pass, Node node) {
    this.pass = pass;
    this.of = pass.of();
    this.node = node;
    this.result = node.results().getFirst().type().shape();
  }

  /** Whether the number of selected rows is in an attribute. */
  static boolean counts(Op op, SelectedRows pass) {
    return switch (op) {
      case Source.Extent(Dim size) -> pass.depends(size);
      case Source.Iota(Dim size, var element) -> pass.depends(size);
      case Op other -> false;
    };
  }

  void convert() {
    switch (node.op()) {
      case Elementwise elementwise -> elementwise();
      case Movement.Reshape(Shape to) -> give(reshape(input(0), to));
      case Movement.Transpose(List<Integer> permutation) -> give(transpose(input(0), permutation));
      case Movement.Broadcast(Shape to) -> give(broadcast(to));
      case Movement.Slice slice -> give(slice(input(0), slice));
      case Movement.Concat(int axis) -> give(concat(axis));
      case Movement.Gather(int axis) -> give(new RowGathers(pass, node).gather(axis));
      case Movement.GatherNd(int batch) when batch == 0 ->
          give(new RowGathers(pass, node).gatherNd());
      case Movement.ScatterElements scatter -> new RowScatters(pass, node).elements(scatter);
      case Movement.ScatterNd scatter -> new RowScatters(pass, node).tuples(scatter);
      case Contraction.MatMul product -> give(product(product));
      case Structured.Linear linear -> give(rowwise(linear, 1));
      case Structured.Norm norm ->
          give(
              along(
                  norm.axis(),
                  axis ->
                      new Structured.Norm(
                          norm.kind(), axis, norm.epsilon(), norm.scale(), norm.bias())));
      case Reduction.Softmax(int axis, boolean logarithm) ->
          give(along(axis, mapped -> new Reduction.Softmax(mapped, logarithm)));
      case Reduction.Cumulative(boolean product, int axis, boolean exclusive, boolean reverse) ->
          give(
              along(axis, mapped -> new Reduction.Cumulative(product, mapped, exclusive, reverse)));
      case Reduction.TopK(Dim k, int axis, boolean largest) ->
          topK(along(axis, mapped -> new Reduction.TopK(k, mapped, largest)));
      case Reduction.ArgReduce arg -> give(argReduce(arg));
      case Reduction.Reduce reduce -> reduce(input(0), reduce);
      case Source.Extent(Dim size) -> pass.give(node.result(), count(size));
      case Source.Iota(Dim size, ElementType element) -> give(numbers(size, element));
      case Op other -> throw new SelectedRows.UnsupportedRows("a number of rows");
    }
  }

  private void give(Rows rows) {
    pass.give(node.result(), rows);
  }

  private Rows input(int operand) {
    return pass.rows(node.operand(operand))
        .orElseThrow(() -> new SelectedRows.UnsupportedRows("a number of rows"));
  }

  /** Returns the axis of a shape with exactly the unknown extent. */
  private int axisIn(Shape shape) {
    int found = -1;
    for (int axis = 0; axis < shape.rank(); axis++) {
      Dim dim = shape.dim(axis);
      if (pass.depends(dim)) {
        if (found >= 0 || !pass.selection(dim).orElseThrow().count().equals(dim)) {
          throw new SelectedRows.UnsupportedRows("an extent of " + dim);
        }
        found = axis;
      }
    }
    return found;
  }

  private Selection selection() {
    int axis = axisIn(result);
    if (axis < 0) {
      throw new SelectedRows.UnsupportedRows("a number of rows");
    }
    return pass.selection(result.dim(axis)).orElseThrow();
  }

  /**
   * Returns an operand that broadcasts to all rows of the result, whose rows are {@code fromEnd}
   * axes from the end, with extents of 1 for dimensions of the mask on which it doesn't depend.
   */
  private Value aligned(Value operand, int fromEnd, Selection selection) {
    Optional<Rows> rows = pass.rows(operand);
    int axis = operand.type().rank() - 1 - fromEnd;
    if (rows.isPresent()) {
      if (rows.get().axis() != axis || rows.get().selection() != selection) {
        throw new SelectedRows.UnsupportedRows("rows of different selections");
      }
      return rows.get().full();
    }
    Value plain = pass.plain(operand);
    if (axis < 0) {
      return plain;
    }
    Shape shape = plain.type().shape();
    if (!shape.dim(axis).is(1)) {
      throw new SelectedRows.UnsupportedRows(
          "rows combined with " + shape.dim(axis) + " other rows");
    }
    return of.reshape(plain, RowBuilder.spread(shape, axis, RowBuilder.ones(selection.rank())));
  }

  private void elementwise() {
    Selection selection = selection();
    int axis = axisIn(result);
    int fromEnd = result.rank() - 1 - axis;
    Value[] operands =
        node.operands().stream()
            .map(operand -> aligned(operand, fromEnd, selection))
            .toArray(Value[]::new);
    Value full = of.add(node.op(), operands);
    give(new Rows(selection, axis, full, places(selection)));
  }

  /** Sums and multiples of coordinates are affine, too. */
  private Optional<Places> places(Selection selection) {
    return switch (node.op()) {
      case Elementwise.Cast(ElementType to) when to.isInteger() && to.bits() >= 32 ->
          places(node.operand(0), selection);
      case Elementwise.Binary(BinaryFunction function) -> {
        Optional<Places> a = places(node.operand(0), selection);
        Optional<Places> b = places(node.operand(1), selection);
        yield a.isEmpty() || b.isEmpty() ? Optional.empty() : combined(function, a.get(), b.get());
      }
      case Op other -> Optional.empty();
    };
  }

  /** Returns the function of a value with one entry per row. */
  private static Optional<Places> combined(BinaryFunction function, Places a, Places b) {
    if (a.axis() >= 0 || b.axis() >= 0) {
      return Optional.empty();
    }
    Affine left = a.entries().getFirst();
    Affine right = b.entries().getFirst();
    Affine value =
        switch (function) {
          case ADD -> left.plus(right);
          case SUB -> left.plus(right.times(Dim.of(-1)));
          case MUL ->
              right.isConstant()
                  ? left.times(right.offset())
                  : left.isConstant() ? right.times(left.offset()) : null;
          case BinaryFunction other -> null;
        };
    return value == null ? Optional.empty() : Optional.of(new Places(-1, List.of(value)));
  }

  /** Returns the function of rows, or of a known number. */
  private Optional<Places> places(Value value, Selection selection) {
    Optional<Rows> rows = pass.rows(value);
    if (rows.isPresent()) {
      return rows.get().places();
    }
    return pass.known(value)
        .filter(dims -> !dims.isEmpty() && dims.stream().allMatch(dims.getFirst()::equals))
        .map(dims -> new Places(-1, List.of(Affine.constant(dims.getFirst(), selection.rank()))));
  }

  private Rows reshape(Rows x, Shape to) {
    Shape from = node.operand(0).type().shape();
    int axis = axisIn(to);
    if (axis < 0 || !to.range(0, axis).size().equals(from.range(0, x.axis()).size())) {
      throw new SelectedRows.UnsupportedRows("rows merged with another dimension");
    }
    Value full = of.reshape(x.full(), RowBuilder.spread(to, axis, RowBuilder.rowExtents(x)));
    return new Rows(x.selection(), axis, full, x.places().flatMap(places -> moved(places, to)));
  }

  /** Returns the axis of the entries after a reshape: the only axis with as many elements. */
  private Optional<Places> moved(Places places, Shape to) {
    if (places.axis() < 0) {
      return Optional.of(places);
    }
    List<Integer> longer =
        IntStream.range(0, to.rank())
            .filter(axis -> !to.dim(axis).is(1) && !pass.depends(to.dim(axis)))
            .boxed()
            .toList();
    boolean fits = longer.size() == 1 && to.dim(longer.getFirst()).is(places.entries().size());
    return fits ? Optional.of(places.at(longer.getFirst())) : Optional.empty();
  }

  private Rows transpose(Rows x, List<Integer> permutation) {
    List<Integer> full = new ArrayList<>();
    for (int axis : permutation) {
      int width = axis == x.axis() ? x.selection().rank() : 1;
      int first = axis == x.axis() ? axis : x.mapped(axis);
      IntStream.range(first, first + width).forEach(full::add);
    }
    return new Rows(
        x.selection(),
        permutation.indexOf(x.axis()),
        of.transpose(x.full(), full),
        x.places().map(p -> p.axis() < 0 ? p : p.at(permutation.indexOf(p.axis()))));
  }

  private Rows broadcast(Shape to) {
    Selection selection = selection();
    int axis = axisIn(to);
    int fromEnd = to.rank() - 1 - axis;
    Value operand = node.operand(0);
    Value aligned = aligned(operand, fromEnd, selection);
    List<Dim> extents =
        pass.rows(operand).map(RowBuilder::rowExtents).orElse(RowBuilder.ones(selection.rank()));
    Optional<Places> places = places(operand, selection);
    int added = to.rank() - operand.type().rank();
    return new Rows(
        selection,
        axis,
        of.broadcast(aligned, RowBuilder.spread(to, axis, extents)),
        places.map(p -> p.axis() < 0 ? p : p.at(p.axis() + added)));
  }

  private Rows slice(Rows x, Movement.Slice slice) {
    boolean whole =
        slice.starts().get(x.axis()).is(0)
            && slice.sizes().get(x.axis()).equals(x.selection().count())
            && slice.steps().get(x.axis()) == 1;
    if (!whole) {
      throw new SelectedRows.UnsupportedRows("a subset of the rows by index");
    }
    int rank = x.selection().rank();
    List<Dim> starts = new ArrayList<>(slice.starts());
    List<Dim> sizes = new ArrayList<>(slice.sizes());
    List<Long> steps = new ArrayList<>(slice.steps());
    starts.remove(x.axis());
    sizes.remove(x.axis());
    for (int j = 0; j < rank; j++) {
      starts.add(x.axis(), Dim.ZERO);
      if (j > 0) {
        steps.add(x.axis(), 1L);
      }
    }
    sizes.addAll(x.axis(), RowBuilder.rowExtents(x));
    Value full = of.add(new Movement.Slice(starts, sizes, steps), x.full());
    return new Rows(x.selection(), x.axis(), full, x.places().flatMap(p -> cut(p, slice)));
  }

  private static Optional<Places> cut(Places places, Movement.Slice slice) {
    if (places.axis() < 0) {
      return Optional.of(places);
    }
    Dim start = slice.starts().get(places.axis());
    Dim size = slice.sizes().get(places.axis());
    if (!start.isStatic() || !size.isStatic()) {
      return Optional.empty();
    }
    List<Affine> entries = new ArrayList<>();
    for (int i = 0; i < size.value(); i++) {
      long at = start.value() + i * slice.steps().get(places.axis());
      entries.add(places.entries().get((int) at));
    }
    return Optional.of(new Places(entries.size() == 1 ? -1 : places.axis(), entries));
  }

  private Rows concat(int axis) {
    Selection selection = selection();
    int rowAxis = axisIn(result);
    if (axis == rowAxis) {
      throw new SelectedRows.UnsupportedRows("a concatenation along the rows");
    }
    List<Rows> parts = new ArrayList<>();
    for (int i = 0; i < node.operands().size(); i++) {
      parts.add(input(i));
    }
    List<Dim> extents = new ArrayList<>(RowBuilder.ones(selection.rank()));
    for (Rows part : parts) {
      List<Dim> own = RowBuilder.rowExtents(part);
      for (int j = 0; j < extents.size(); j++) {
        extents.set(j, extents.get(j).is(1) ? own.get(j) : extents.get(j));
      }
    }
    List<Value> values = new ArrayList<>();
    Optional<List<Affine>> entries = Optional.of(new ArrayList<>());
    for (int i = 0; i < parts.size(); i++) {
      Rows part = parts.get(i);
      Shape shape = node.operand(i).type().shape();
      values.add(of.broadcast(part.full(), RowBuilder.spread(shape, rowAxis, extents)));
      boolean one =
          part.places().isPresent()
              && (part.places().get().axis() == axis
                  || part.places().get().axis() < 0 && shape.dim(axis).is(1));
      if (one && entries.isPresent()) {
        entries.get().addAll(part.places().get().entries());
      } else {
        entries = Optional.empty();
      }
    }
    int mapped = parts.getFirst().mapped(axis);
    Value full = of.graph().add(new Movement.Concat(mapped), values);
    return new Rows(selection, rowAxis, full, entries.map(all -> new Places(axis, all)));
  }

  /** Multiplies rows of the left operand, or matrices of both. */
  private Rows product(Contraction.MatMul product) {
    Selection selection = selection();
    int axis = axisIn(result);
    int fromEnd = result.rank() - 1 - axis;
    Value left = node.operand(0);
    Value right = node.operand(1);
    if (fromEnd >= 2) {
      Value full =
          of.add(product, aligned(left, fromEnd, selection), aligned(right, fromEnd, selection));
      return new Rows(selection, axis, full, Optional.empty());
    }
    if (fromEnd != 1 || pass.rows(right).isPresent()) {
      throw new SelectedRows.UnsupportedRows("rows as the columns of a product");
    }
    Value matrix = pass.plain(right);
    int batches = matrix.type().rank() - 2;
    if (batches > 0) {
      List<Dim> dims = new ArrayList<>(matrix.type().shape().dims());
      dims.addAll(batches, RowBuilder.ones(selection.rank() - 1));
      matrix = of.reshape(matrix, new Shape(dims));
    }
    Value full = of.add(product, aligned(left, fromEnd, selection), matrix);
    return new Rows(selection, axis, full, Optional.empty());
  }

  /**
   * Applies an operation on the last dimensions of the first operand to rows; other operands have
   * no rows.
   */
  private Rows rowwise(Op op, int last) {
    Rows x = input(0);
    if (x.axis() >= node.operand(0).type().rank() - last) {
      throw new SelectedRows.UnsupportedRows("rows as features");
    }
    Value[] operands = new Value[node.operands().size()];
    operands[0] = x.full();
    for (int i = 1; i < operands.length; i++) {
      operands[i] = pass.plain(node.operand(i));
    }
    return new Rows(x.selection(), x.axis(), of.add(op, operands), Optional.empty());
  }

  private Rows along(int axis, java.util.function.IntFunction<Op> op) {
    Rows x = input(0);
    if (axis == x.axis() || node.op() instanceof Structured.Norm && axis < x.axis()) {
      throw new SelectedRows.UnsupportedRows("an operation along the rows");
    }
    return rowwise(op.apply(x.mapped(axis)), 0);
  }

  private void topK(Rows values) {
    pass.give(node.results().get(0), values);
    Value indices = values.full().definition().results().get(1);
    pass.give(
        node.results().get(1),
        new Rows(values.selection(), values.axis(), indices, Optional.empty()));
  }

  private Rows argReduce(Reduction.ArgReduce arg) {
    Rows x =
        along(
            arg.axis(),
            axis -> new Reduction.ArgReduce(arg.largest(), axis, arg.keepDims(), arg.selectLast()));
    boolean before = arg.axis() < x.axis() && !arg.keepDims();
    return new Rows(x.selection(), x.axis() - (before ? 1 : 0), x.full(), Optional.empty());
  }

  private void reduce(Rows x, Reduction.Reduce reduce) {
    List<Integer> axes = new ArrayList<>();
    int before = 0;
    for (int axis : reduce.axes()) {
      int width = axis == x.axis() ? x.selection().rank() : 1;
      int first = axis == x.axis() ? axis : x.mapped(axis);
      IntStream.range(first, first + width).forEach(axes::add);
      before += axis < x.axis() && !reduce.keepDims() ? 1 : 0;
    }
    Reduction.Reduce full = new Reduction.Reduce(reduce.reduction(), axes, reduce.keepDims());
    if (!reduce.axes().contains(x.axis())) {
      give(new Rows(x.selection(), x.axis() - before, of.add(full, x.full()), Optional.empty()));
      return;
    }
    Value neutral =
        of.scalarLike(
            x.full(),
            switch (reduce.reduction()) {
              case SUM -> 0;
              case PRODUCT -> 1;
              case MAX -> least(x.full().type().element(), -1);
              case MIN -> least(x.full().type().element(), 1);
              case MEAN -> throw new SelectedRows.UnsupportedRows("a mean of rows");
            });
    Value mask = of.maskFor(x, pass.mask(x.selection()));
    Value kept = of.add(new Elementwise.Select(), mask, x.full(), neutral);
    pass.give(node.result(), of.reshape(of.add(full, kept), result));
  }

  private static double least(ElementType element, int sign) {
    if (!element.isFloat()) {
      throw new SelectedRows.UnsupportedRows("a maximum or minimum of integer rows");
    }
    return sign * Double.POSITIVE_INFINITY;
  }

  /** Returns the number of rows. */
  private Value count(Dim size) {
    Selection selection = pass.selection(size).orElseThrow();
    if (!selection.count().equals(size)) {
      throw new SelectedRows.UnsupportedRows("an extent of " + size);
    }
    Value ones = of.add(new Elementwise.Cast(ElementType.I64), pass.mask(selection));
    List<Integer> axes = IntStream.range(0, selection.rank()).boxed().toList();
    return of.add(new Reduction.Reduce(ReductionKind.SUM, axes, false), ones);
  }

  /** Returns the index of each row among the selected ones. */
  private Rows numbers(Dim size, ElementType element) {
    Selection selection = selection();
    if (!selection.count().equals(size)) {
      throw new SelectedRows.UnsupportedRows("an extent of " + size);
    }
    Value ones = of.add(new Elementwise.Cast(element), pass.mask(selection));
    Value line = of.reshape(ones, Shape.of(selection.extents().size()));
    Value numbers = of.add(new Reduction.Cumulative(false, 0, true, false), line);
    return new Rows(selection, 0, of.reshape(numbers, selection.extents()), Optional.empty());
  }
}
