package io.partita.backend.emitted.probe;

import io.partita.ir.message.Slice;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.TensorType;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;

/** The known part of a collective's vector on one chip. */
final class Vector {
  private final ElementType element;
  private final int size;
  private final byte[] bytes;

  Vector(ElementType element, long elements) {
    this.element = element;
    this.size = Math.toIntExact(element.packedBytes(1));
    this.bytes = new byte[Math.toIntExact(elements * size)];
  }

  void write(List<Slice> slices, Tensor data) {
    byte[] from = data.bytes().toArray(ValueLayout.JAVA_BYTE);
    int at = 0;
    for (Slice slice : slices) {
      int count = Math.toIntExact(slice.size() * size);
      System.arraycopy(from, at, bytes, Math.toIntExact(slice.start() * size), count);
      at += count;
    }
  }

  /** One slice after the other. */
  Tensor read(List<Slice> slices) {
    TensorType type = type(slices);
    byte[] to = new byte[Math.toIntExact(type.bytes())];
    int at = 0;
    for (Slice slice : slices) {
      int count = Math.toIntExact(slice.size() * size);
      System.arraycopy(bytes, Math.toIntExact(slice.start() * size), to, at, count);
      at += count;
    }
    return Tensor.of(type, MemorySegment.ofArray(to));
  }

  TensorType type(List<Slice> slices) {
    return TensorType.of(element, Slice.elements(slices));
  }

  /** The index in the vector of an element of the slices. */
  static long place(List<Slice> slices, long index) {
    long left = index;
    for (Slice slice : slices) {
      if (left < slice.size()) {
        return slice.start() + left;
      }
      left -= slice.size();
    }
    throw new IndexOutOfBoundsException(Long.toString(index));
  }
}
