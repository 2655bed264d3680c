package io.partita.frontend.onnx.selection;

import io.partita.ir.function.BinaryFunction;
import io.partita.ir.graph.GraphBuilder;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Op;
import io.partita.ir.op.Source;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.Dim;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

/** Adds operations on all rows to a graph. */
record RowBuilder(GraphBuilder graph) {
  Value add(Op op, Value... operands) {
    return graph.add(op, operands);
  }

  /** Returns the same value if the shape is equal. */
  Value reshape(Value x, Shape to) {
    return x.type().shape().equals(to) ? x : add(new Movement.Reshape(to), x);
  }

  Value broadcast(Value x, Shape to) {
    return x.type().shape().equals(to) ? x : add(new Movement.Broadcast(to), x);
  }

  Value transpose(Value x, List<Integer> permutation) {
    boolean same = permutation.equals(IntStream.range(0, permutation.size()).boxed().toList());
    return same ? x : add(new Movement.Transpose(permutation), x);
  }

  Value binary(BinaryFunction function, Value a, Value b) {
    return add(new Elementwise.Binary(function), a, b);
  }

  Value scalarLike(Value like, double value) {
    return graph.constant(Tensor.scalar(like.type().element(), value));
  }

  /** Returns {@code count} extents of 1. */
  static List<Dim> ones(int count) {
    return Collections.nCopies(count, Dim.ONE);
  }

  /** Replaces the extent of an axis by several extents. */
  static Shape spread(Shape shape, int axis, List<Dim> extents) {
    List<Dim> dims = new ArrayList<>(shape.dims());
    dims.remove(axis);
    dims.addAll(axis, extents);
    return new Shape(dims);
  }

  /** Returns all coordinates of a mask, {@code [rank, extents…]}, for the result of a NonZero. */
  Rows coordinates(Selection selection) {
    int rank = selection.rank();
    Value[] parts = new Value[rank];
    List<Affine> entries = new ArrayList<>();
    for (int j = 0; j < rank; j++) {
      Dim extent = selection.extents().dim(j);
      Value iota = add(new Source.Iota(extent, ElementType.I64));
      List<Dim> along = new ArrayList<>(ones(rank + 1));
      along.set(j + 1, extent);
      Shape all = Shape.of(1).concat(selection.extents());
      parts[j] = broadcast(reshape(iota, new Shape(along)), all);
      entries.add(Affine.coordinate(j, rank));
    }
    Value full = graph.add(new Movement.Concat(0), List.of(parts));
    return new Rows(selection, 1, full, Optional.of(new Rows.Places(rank == 1 ? -1 : 0, entries)));
  }

  /** Reshapes the mask so that it broadcasts to {@code rows.full()}. */
  Value maskFor(Rows rows, Value mask) {
    List<Dim> dims = new ArrayList<>(mask.type().shape().dims());
    dims.addAll(ones(rows.full().type().rank() - rows.axis() - rows.selection().rank()));
    return reshape(mask, new Shape(dims));
  }

  /** Returns the extents of {@code rows.full()} for the unknown extent. */
  static List<Dim> rowExtents(Rows rows) {
    return rows.full()
        .type()
        .shape()
        .dims()
        .subList(rows.axis(), rows.axis() + rows.selection().rank());
  }

  /** Broadcasts {@code full} to all extents of the mask. */
  Value expanded(Rows rows) {
    Shape shape = rows.full().type().shape();
    List<Dim> dims = new ArrayList<>(shape.dims());
    for (int j = 0; j < rows.selection().rank(); j++) {
      dims.set(rows.axis() + j, rows.selection().extents().dim(j));
    }
    return broadcast(rows.full(), new Shape(dims));
  }

  /** Merges all extents of the mask in {@code full} into one. */
  Value flattened(Rows rows) {
    Value all = expanded(rows);
    List<Dim> dims = new ArrayList<>(all.type().shape().dims());
    for (int j = 0; j < rows.selection().rank(); j++) {
      dims.remove(rows.axis());
    }
    dims.add(rows.axis(), rows.selection().extents().size());
    return reshape(all, new Shape(dims));
  }
}
