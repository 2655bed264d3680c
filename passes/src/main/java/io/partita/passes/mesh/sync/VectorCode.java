package io.partita.passes.mesh.sync;

import io.partita.ir.function.BinaryFunction;
import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Contraction;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.Movement;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.Dim;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;
import java.util.List;
import java.util.stream.IntStream;

/**
 * The operations that quantise tokens to the centroids of a codebook and back.
 *
 * @param centroids the constant {@code f32[groups size, width]}
 */
record VectorCode(Codebook book, GraphEditor graph, Value centroids) {
  private static final int BYTE = 8;

  static VectorCode of(Codebook book, GraphEditor graph) {
    Shape shape = Shape.of((long) book.groups() * book.size(), book.width());
    return new VectorCode(book, graph, graph.constant(Tensor.floats(shape, book.centroids())));
  }

  /** The bits of an index. */
  int bits() {
    return Integer.SIZE - Integer.numberOfLeadingZeros(book.size() - 1);
  }

  /** {@code f32[..., features]} to indices {@code i32[..., groups]}. */
  Value nearest(Value tokens) {
    return graph.add(
        new Contraction.NearestCentroid(book.groups()), cast(tokens, ElementType.F32), centroids);
  }

  /** Indices {@code i32[..., groups]} to {@code f32[..., features]}. */
  Value decoded(Value indices) {
    long[] starts =
        IntStream.range(0, book.groups()).mapToLong(group -> (long) group * book.size()).toArray();
    Value offsets =
        graph.constant(
            Tensor.ofLongs(new TensorType(ElementType.I32, Shape.of(book.groups())), starts));
    Value rows = book.groups() == 1 ? indices : binary(BinaryFunction.ADD, indices, offsets);
    Value found = graph.add(new Movement.Gather(0), centroids, rows);
    Shape shape = indices.type().shape();
    Shape whole = shape.with(shape.rank() - 1, Dim.of(book.features()));
    return graph.add(new Movement.Reshape(whole), found);
  }

  /** Returns the bytes of so many packed indices. */
  long bytes(long codes) {
    return bits() <= BYTE
        ? new BitPacking(bits(), codes).bytes()
        : codes + new BitPacking(bits() - BYTE, codes).bytes();
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
