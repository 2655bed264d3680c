package io.partita.backend.java;

import io.partita.backend.java.plan.Storage;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.TensorType;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** Conversions between tensors and the Java arrays of emitted programs. */
final class TensorArrays {
  private TensorArrays() {}

  static Class<?> typeOf(ElementType element) {
    return switch (Storage.of(element)) {
      case FLOATS -> float[].class;
      case DOUBLES -> double[].class;
      case LONGS -> long[].class;
      case INTS -> int[].class;
      case SHORTS -> short[].class;
      case BYTES -> byte[].class;
      case BOOLEANS -> boolean[].class;
    };
  }

  /** Returns the elements, with 4-bit ones unpacked. */
  static Object of(Tensor tensor) {
    MemorySegment bytes = tensor.bytes();
    return switch (Storage.of(tensor.element())) {
      case FLOATS -> bytes.toArray(ValueLayout.JAVA_FLOAT_UNALIGNED);
      case DOUBLES -> bytes.toArray(ValueLayout.JAVA_DOUBLE_UNALIGNED);
      case LONGS -> bytes.toArray(ValueLayout.JAVA_LONG_UNALIGNED);
      case INTS -> bytes.toArray(ValueLayout.JAVA_INT_UNALIGNED);
      case SHORTS -> bytes.toArray(ValueLayout.JAVA_SHORT_UNALIGNED);
      case BYTES -> bytes(tensor);
      case BOOLEANS -> booleans(tensor);
    };
  }

  private static byte[] bytes(Tensor tensor) {
    byte[] values = new byte[tensor.size()];
    for (int i = 0; i < values.length; i++) {
      values[i] = (byte) tensor.getLong(i);
    }
    return values;
  }

  private static boolean[] booleans(Tensor tensor) {
    boolean[] values = new boolean[tensor.size()];
    for (int i = 0; i < values.length; i++) {
      values[i] = tensor.getBoolean(i);
    }
    return values;
  }

  static Tensor tensor(TensorType type, Object array) {
    return switch (array) {
      case float[] values -> Tensor.of(type, MemorySegment.ofArray(values));
      case double[] values -> Tensor.of(type, MemorySegment.ofArray(values));
      case long[] values -> Tensor.of(type, MemorySegment.ofArray(values));
      case int[] values -> Tensor.of(type, MemorySegment.ofArray(values));
      case short[] values -> Tensor.of(type, MemorySegment.ofArray(values));
      case byte[] values -> Tensor.ofLongs(type, widened(values));
      case boolean[] values -> Tensor.ofLongs(type, widened(values));
      default -> throw new IllegalArgumentException(array.getClass().getName());
    };
  }

  private static long[] widened(byte[] values) {
    long[] longs = new long[values.length];
    for (int i = 0; i < longs.length; i++) {
      longs[i] = values[i];
    }
    return longs;
  }

  private static long[] widened(boolean[] values) {
    long[] longs = new long[values.length];
    for (int i = 0; i < longs.length; i++) {
      longs[i] = values[i] ? 1 : 0;
    }
    return longs;
  }
}
