package io.partita.ir.program;

import io.partita.ir.message.Slice;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.TensorType;
import java.util.List;

/** A vector that is written and read in slices. */
final class ElementStore {
  private final ElementType element;

  /** Integers, or the bits of doubles for float types. */
  private final long[] numbers;

  ElementStore(long elements, ElementType element) {
    this.element = element;
    this.numbers = new long[Math.toIntExact(elements)];
  }

  void write(List<Slice> slices, Tensor data) {
    int at = 0;
    for (Slice slice : slices) {
      for (int i = (int) slice.start(); i < slice.end(); i++, at++) {
        numbers[i] =
            element.isFloat() ? Double.doubleToRawLongBits(data.getDouble(at)) : data.getLong(at);
      }
    }
  }

  /** Returns the concatenated elements of slices. */
  Tensor read(List<Slice> slices) {
    int size = Math.toIntExact(Slice.elements(slices));
    long[] longs = new long[size];
    int at = 0;
    for (Slice slice : slices) {
      System.arraycopy(numbers, (int) slice.start(), longs, at, (int) slice.size());
      at += (int) slice.size();
    }
    TensorType type = TensorType.of(element, size);
    if (!element.isFloat()) {
      return Tensor.ofLongs(type, longs);
    }
    double[] doubles = new double[size];
    for (int i = 0; i < size; i++) {
      doubles[i] = Double.longBitsToDouble(longs[i]);
    }
    return Tensor.ofDoubles(type, doubles);
  }
}
