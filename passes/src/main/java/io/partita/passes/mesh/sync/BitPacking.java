package io.partita.passes.mesh.sync;

import io.partita.ir.function.BinaryFunction;
import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.Movement;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.Dim;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import java.util.ArrayList;
import java.util.List;

/**
 * Codes of 1 to 8 bits, packed along the last dimension. They are divided into planes of 1, 2, 4 or
 * 8 bits. A byte of a plane of w bits holds the bits of 8/w codes, which are w/8 of the plane
 * apart.
 *
 * @param bits the bits of a code
 * @param codes the number of codes along the last dimension
 */
record BitPacking(int bits, long codes) {
  private static final int BYTE = 8;

  private List<Integer> planes() {
    List<Integer> planes = new ArrayList<>();
    for (int width = BYTE; width >= 1; width /= 2) {
      if ((bits & width) != 0) {
        planes.add(width);
      }
    }
    return planes;
  }

  private long bytes(int width) {
    int perByte = BYTE / width;
    return (codes + perByte - 1) / perByte;
  }

  /** Returns the bytes of all codes. */
  long bytes() {
    return planes().stream().mapToLong(this::bytes).sum();
  }

  Value pack(Value value, GraphEditor graph) {
    return pack(value, new LowBitArithmetic(bits, graph));
  }

  Value unpack(Value packed, GraphEditor graph) {
    return unpack(packed, new LowBitArithmetic(bits, graph));
  }

  /** Packs {@code u8[..., codes]} to {@code u8[..., bytes]}. */
  Value pack(Value value, LowBitArithmetic arithmetic) {
    GraphEditor graph = arithmetic.graph();
    List<Value> packed = new ArrayList<>();
    int shift = 0;
    for (int width : planes()) {
      Value plane = mask(right(value, shift, arithmetic), width, arithmetic);
      long bytes = bytes(width);
      Value padded = pad(plane, bytes * (BYTE / width) - codes, arithmetic);
      Value joined = slice(padded, 0, bytes, graph);
      for (int i = 1; i < BYTE / width; i++) {
        Value part = slice(padded, i * bytes, bytes, graph);
        Value moved =
            graph.add(binary(BinaryFunction.SHIFT_LEFT), part, number(i * width, arithmetic));
        joined = graph.add(binary(BinaryFunction.BIT_OR), joined, moved);
      }
      packed.add(joined);
      shift += width;
    }
    return concat(packed, graph);
  }

  /** Unpacks {@code u8[..., bytes]} to {@code u8[..., codes]}. */
  Value unpack(Value packed, LowBitArithmetic arithmetic) {
    GraphEditor graph = arithmetic.graph();
    Value result = null;
    long from = 0;
    int shift = 0;
    for (int width : planes()) {
      long bytes = bytes(width);
      Value plane = slice(packed, from, bytes, graph);
      List<Value> parts = new ArrayList<>();
      for (int i = 0; i < BYTE / width; i++) {
        parts.add(mask(right(plane, i * width, arithmetic), width, arithmetic));
      }
      Value codesOf = slice(concat(parts, graph), 0, codes, graph);
      if (shift > 0) {
        codesOf = graph.add(binary(BinaryFunction.SHIFT_LEFT), codesOf, number(shift, arithmetic));
        codesOf = graph.add(binary(BinaryFunction.BIT_OR), result, codesOf);
      }
      result = codesOf;
      from += bytes;
      shift += width;
    }
    return result;
  }

  private static Elementwise.Binary binary(BinaryFunction function) {
    return new Elementwise.Binary(function);
  }

  private static Value number(int value, LowBitArithmetic arithmetic) {
    return arithmetic.constant(Tensor.scalar(ElementType.U8, value));
  }

  private static Value right(Value value, int shift, LowBitArithmetic arithmetic) {
    return shift == 0
        ? value
        : arithmetic
            .graph()
            .add(binary(BinaryFunction.SHIFT_RIGHT), value, number(shift, arithmetic));
  }

  private static Value mask(Value value, int width, LowBitArithmetic arithmetic) {
    return width == BYTE
        ? value
        : arithmetic
            .graph()
            .add(binary(BinaryFunction.BIT_AND), value, number((1 << width) - 1, arithmetic));
  }

  private static Value pad(Value value, long by, LowBitArithmetic arithmetic) {
    return pad(value, by, number(0, arithmetic), arithmetic.graph());
  }

  /** Pads each line at its end with a scalar. */
  static Value pad(Value value, long by, Value with, GraphEditor graph) {
    if (by == 0) {
      return value;
    }
    int rank = value.type().rank();
    List<Long> low = new ArrayList<>();
    List<Long> high = new ArrayList<>();
    for (int dim = 0; dim < rank; dim++) {
      low.add(0L);
      high.add(dim == rank - 1 ? by : 0L);
    }
    return graph.add(new Movement.Pad(Movement.PadMode.CONSTANT, low, high), value, with);
  }

  static Value slice(Value value, long from, long size, GraphEditor graph) {
    return slice(value, value.type().rank() - 1, from, size, graph);
  }

  static Value slice(Value value, int axis, long from, long size, GraphEditor graph) {
    Shape shape = value.type().shape();
    if (shape.dim(axis).is(size)) {
      return value;
    }
    List<Dim> starts = new ArrayList<>();
    List<Long> steps = new ArrayList<>();
    for (int dim = 0; dim < shape.rank(); dim++) {
      starts.add(Dim.of(dim == axis ? from : 0));
      steps.add(1L);
    }
    List<Dim> sizes = shape.with(axis, Dim.of(size)).dims();
    return graph.add(new Movement.Slice(starts, sizes, steps), value);
  }

  static Value concat(List<Value> parts, GraphEditor graph) {
    return parts.size() == 1
        ? parts.getFirst()
        : graph.add(new Movement.Concat(parts.getFirst().type().rank() - 1), parts);
  }
}
