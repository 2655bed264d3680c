package io.partita.ir.eval;

import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.TensorType;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * The elements of a tensor as bit patterns of 1, 2, 4 or 8 bytes, for movements; 4-bit elements
 * take a byte each.
 */
final class RawElements {
  private final MemorySegment data;
  private final int width;

  private RawElements(MemorySegment data, int width) {
    this.data = data;
    this.width = width;
  }

  static RawElements of(Tensor tensor) {
    if (tensor.element().bits() != 4) {
      return new RawElements(tensor.bytes(), tensor.element().bits() / 8);
    }
    byte[] unpacked = new byte[tensor.size()];
    for (int i = 0; i < unpacked.length; i++) {
      unpacked[i] = (byte) tensor.getLong(i);
    }
    return new RawElements(MemorySegment.ofArray(unpacked), 1);
  }

  /** Creates zeros, in an array that is returned without a copy. */
  static RawElements zeros(ElementType element, int count) {
    MemorySegment data =
        switch (element) {
          case F64 -> MemorySegment.ofArray(new double[count]);
          case F32 -> MemorySegment.ofArray(new float[count]);
          case I64, U64 -> MemorySegment.ofArray(new long[count]);
          case I32, U32 -> MemorySegment.ofArray(new int[count]);
          case F16, BF16, I16, U16 -> MemorySegment.ofArray(new short[count]);
          case I8, U8, I4, U4, BOOL -> MemorySegment.ofArray(new byte[count]);
        };
    return new RawElements(data, Math.max(1, element.bits() / 8));
  }

  /** Returns a mutable copy. */
  static RawElements copyOf(Tensor tensor) {
    RawElements copy = zeros(tensor.element(), tensor.size());
    copy.copyRun(of(tensor), 0, 0, tensor.size());
    return copy;
  }

  Tensor toTensor(TensorType type) {
    if (type.element().bits() != 4) {
      return Tensor.of(type, data);
    }
    long[] values = new long[(int) data.byteSize()];
    for (int i = 0; i < values.length; i++) {
      values[i] = data.get(ValueLayout.JAVA_BYTE, i);
    }
    return Tensor.ofLongs(type, values);
  }

  /** Copies contiguous elements. */
  void copyRun(RawElements source, int from, int to, int count) {
    MemorySegment.copy(
        source.data, (long) from * width, data, (long) to * width, (long) count * width);
  }

  /** Copies {@code count} elements with a stride to contiguous places. */
  void copyLine(RawElements source, int from, int stride, int to, int count) {
    if (stride == 1) {
      copyRun(source, from, to, count);
      return;
    }
    switch (width) {
      case 1 -> {
        for (int i = 0; i < count; i++) {
          data.set(
              ValueLayout.JAVA_BYTE,
              to + i,
              source.data.get(ValueLayout.JAVA_BYTE, from + i * stride));
        }
      }
      case 2 -> {
        for (int i = 0; i < count; i++) {
          short cell = source.data.get(ValueLayout.JAVA_SHORT_UNALIGNED, 2L * (from + i * stride));
          data.set(ValueLayout.JAVA_SHORT_UNALIGNED, 2L * (to + i), cell);
        }
      }
      case 4 -> {
        for (int i = 0; i < count; i++) {
          int cell = source.data.get(ValueLayout.JAVA_INT_UNALIGNED, 4L * (from + i * stride));
          data.set(ValueLayout.JAVA_INT_UNALIGNED, 4L * (to + i), cell);
        }
      }
      case 8 -> {
        for (int i = 0; i < count; i++) {
          long cell = source.data.get(ValueLayout.JAVA_LONG_UNALIGNED, 8L * (from + i * stride));
          data.set(ValueLayout.JAVA_LONG_UNALIGNED, 8L * (to + i), cell);
        }
      }
      default -> throw new AssertionError(width);
    }
  }

  /** Copies one element. */
  void copy(RawElements source, int from, int to) {
    switch (width) {
      case 1 -> data.set(ValueLayout.JAVA_BYTE, to, source.data.get(ValueLayout.JAVA_BYTE, from));
      case 2 ->
          data.set(
              ValueLayout.JAVA_SHORT_UNALIGNED,
              2L * to,
              source.data.get(ValueLayout.JAVA_SHORT_UNALIGNED, 2L * from));
      case 4 ->
          data.set(
              ValueLayout.JAVA_INT_UNALIGNED,
              4L * to,
              source.data.get(ValueLayout.JAVA_INT_UNALIGNED, 4L * from));
      case 8 ->
          data.set(
              ValueLayout.JAVA_LONG_UNALIGNED,
              8L * to,
              source.data.get(ValueLayout.JAVA_LONG_UNALIGNED, 8L * from));
      default -> throw new AssertionError(width);
    }
  }

  /** Fills with the first element of {@code value}. */
  void fill(RawElements value) {
    copyLine(value, 0, 0, 0, (int) (data.byteSize() / width));
  }
}
