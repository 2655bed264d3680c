package io.partita.passes.mesh.sync;

import io.partita.ir.function.BinaryFunction;
import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Contraction;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Reduction;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.Dim;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

/**
 * The operations that quantise tokens to the centroids of a codebook and back. The nearest centroid
 * e of a vector z has the least |e|²/2 - z e, and the lowest index among equals.
 */
record VectorCode(Codebook book, GraphEditor graph) {
  private static final int BYTE = 8;

  /** The bits of an index. */
  int bits() {
    return Integer.SIZE - Integer.numberOfLeadingZeros(book.size() - 1);
  }

  /** {@code f32[..., features]} to indices {@code i32[..., groups]}. */
  Value nearest(Value tokens) {
    Shape shape = tokens.type().shape();
    int rank = shape.rank();
    List<Dim> cut = new ArrayList<>(shape.range(0, rank - 1).dims());
    cut.add(Dim.of(book.groups()));
    cut.add(Dim.of(book.width()));
    Value vectors = graph.add(new Movement.Reshape(new Shape(cut)), cast(tokens, ElementType.F32));
    List<Integer> groupsFirst = new ArrayList<>(List.of(rank - 1));
    IntStream.range(0, rank - 1).forEach(groupsFirst::add);
    groupsFirst.add(rank);
    Value lines = graph.add(new Movement.Transpose(groupsFirst), vectors);
    Value products =
        graph.add(new Contraction.MatMul(ElementType.F32), lines, transposedCentroids(rank - 2));
    Value distances = binary(BinaryFunction.SUB, halfNorms(rank - 2), products);
    Value indices = graph.add(new Reduction.ArgReduce(false, rank, false, false), distances);
    List<Integer> groupsLast = new ArrayList<>(IntStream.range(1, rank).boxed().toList());
    groupsLast.add(0);
    return cast(graph.add(new Movement.Transpose(groupsLast), indices), ElementType.I32);
  }

  /** Indices {@code i32[..., groups]} to {@code f32[..., features]}. */
  Value centroids(Value indices) {
    long[] starts =
        IntStream.range(0, book.groups()).mapToLong(group -> (long) group * book.size()).toArray();
    Value offsets =
        graph.constant(
            Tensor.ofLongs(new TensorType(ElementType.I32, Shape.of(book.groups())), starts));
    Value rows = book.groups() == 1 ? indices : binary(BinaryFunction.ADD, indices, offsets);
    Shape table = Shape.of((long) book.groups() * book.size(), book.width());
    Value found =
        graph.add(
            new Movement.Gather(0), graph.constant(Tensor.floats(table, book.centroids())), rows);
    Shape shape = indices.type().shape();
    Shape whole = shape.with(shape.rank() - 1, Dim.of(book.features()));
    return graph.add(new Movement.Reshape(whole), found);
  }

  /** {@code i32[..., codes]} to {@code u8[..., bytes]}. */
  Value pack(Value indices) {
    long codes = indices.type().shape().fromEnd(0).value();
    if (bits() <= BYTE) {
      return new BitPacking(bits(), codes).pack(cast(indices, ElementType.U8), graph);
    }
    Value high = binary(BinaryFunction.SHIFT_RIGHT, indices, number(BYTE));
    Value low = binary(BinaryFunction.BIT_AND, indices, number((1 << BYTE) - 1));
    Value packed = new BitPacking(bits() - BYTE, codes).pack(cast(high, ElementType.U8), graph);
    return BitPacking.concat(List.of(cast(low, ElementType.U8), packed), graph);
  }

  /** The inverse of {@link #pack}. */
  Value unpack(Value packed, long codes) {
    if (bits() <= BYTE) {
      return cast(new BitPacking(bits(), codes).unpack(packed, graph), ElementType.I32);
    }
    Value low = cast(BitPacking.slice(packed, 0, codes, graph), ElementType.I32);
    BitPacking packing = new BitPacking(bits() - BYTE, codes);
    Value rest = BitPacking.slice(packed, codes, packing.bytes(), graph);
    Value high = cast(packing.unpack(rest, graph), ElementType.I32);
    Value moved = binary(BinaryFunction.SHIFT_LEFT, high, number(BYTE));
    return binary(BinaryFunction.BIT_OR, moved, low);
  }

  /** {@code [groups, 1..., width, size]}. */
  private Value transposedCentroids(int ones) {
    float[] data = new float[book.centroids().length];
    for (int group = 0; group < book.groups(); group++) {
      int start = group * book.size() * book.width();
      for (int k = 0; k < book.size(); k++) {
        for (int j = 0; j < book.width(); j++) {
          data[start + j * book.size() + k] = book.centroids()[start + k * book.width() + j];
        }
      }
    }
    return graph.constant(Tensor.floats(byGroup(ones, book.width()), data));
  }

  /** {@code [groups, 1..., 1, size]}. */
  private Value halfNorms(int ones) {
    float[] data = new float[book.groups() * book.size()];
    for (int i = 0; i < data.length; i++) {
      double sum = 0;
      for (int j = 0; j < book.width(); j++) {
        double each = book.centroids()[i * book.width() + j];
        sum += each * each;
      }
      data[i] = (float) (sum / 2);
    }
    return graph.constant(Tensor.floats(byGroup(ones, 1), data));
  }

  private Shape byGroup(int ones, int rows) {
    List<Dim> dims = new ArrayList<>(List.of(Dim.of(book.groups())));
    IntStream.range(0, ones).forEach(i -> dims.add(Dim.ONE));
    dims.add(Dim.of(rows));
    dims.add(Dim.of(book.size()));
    return new Shape(dims);
  }

  private Value cast(Value value, ElementType to) {
    return value.type().element() == to ? value : graph.add(new Elementwise.Cast(to), value);
  }

  private Value binary(BinaryFunction function, Value left, Value right) {
    return graph.add(new Elementwise.Binary(function), left, right);
  }

  private Value number(int value) {
    return graph.constant(Tensor.scalar(ElementType.I32, value));
  }
}
