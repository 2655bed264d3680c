package io.partita.ir.schedule.kernel;

import io.partita.ir.tensor.Float16;
import io.partita.ir.type.ElementType;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.Arrays;

/**
 * An address in a memory of little-endian elements. Packed 4-bit elements are read and written by
 * the kernels that pack them.
 *
 * @param at the index of the first byte
 */
public record Place(byte[] memory, int at) {
  private static final ByteOrder ORDER = ByteOrder.LITTLE_ENDIAN;
  private static final VarHandle DOUBLE =
      MethodHandles.byteArrayViewVarHandle(double[].class, ORDER);
  private static final VarHandle FLOAT = MethodHandles.byteArrayViewVarHandle(float[].class, ORDER);
  private static final VarHandle LONG = MethodHandles.byteArrayViewVarHandle(long[].class, ORDER);
  private static final VarHandle INT = MethodHandles.byteArrayViewVarHandle(int[].class, ORDER);
  private static final VarHandle SHORT = MethodHandles.byteArrayViewVarHandle(short[].class, ORDER);
  private static final ValueLayout.OfFloat FLOATS =
      ValueLayout.JAVA_FLOAT_UNALIGNED.withOrder(ORDER);
  private static final ValueLayout.OfInt INTS = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ORDER);

  /** Returns the place after a number of bytes. */
  Place plus(long bytes) {
    return new Place(memory, Math.toIntExact(at + bytes));
  }

  /** Reads contiguous f32. */
  public float[] floats(int count) {
    float[] values = new float[count];
    MemorySegment.copy(MemorySegment.ofArray(memory), FLOATS, at, values, 0, count);
    return values;
  }

  public void write(float[] values) {
    MemorySegment.copy(values, 0, MemorySegment.ofArray(memory), FLOATS, at, values.length);
  }

  /** Reads contiguous i32. */
  public int[] ints(int count) {
    int[] values = new int[count];
    MemorySegment.copy(MemorySegment.ofArray(memory), INTS, at, values, 0, count);
    return values;
  }

  public void write(int[] values) {
    MemorySegment.copy(values, 0, MemorySegment.ofArray(memory), INTS, at, values.length);
  }

  public float floatAt(int index) {
    return (float) FLOAT.get(memory, at + Float.BYTES * index);
  }

  void set(int index, float value) {
    FLOAT.set(memory, at + Float.BYTES * index, value);
  }

  public int intAt(int index) {
    return (int) INT.get(memory, at + Integer.BYTES * index);
  }

  public long longAt(int index) {
    return (long) LONG.get(memory, at + Long.BYTES * index);
  }

  void set(int index, long value) {
    LONG.set(memory, at + Long.BYTES * index, value);
  }

  /** Reads {@code count} floats of a type with a stride in elements. */
  void read(ElementType element, int first, int stride, double[] values, int from, int count) {
    int bytes = element.bits() / Byte.SIZE;
    int place = at + first * bytes;
    int step = stride * bytes;
    switch (element) {
      case F64 -> {
        for (int i = 0; i < count; i++) {
          values[from + i] = (double) DOUBLE.get(memory, place + i * step);
        }
      }
      case F32 -> {
        for (int i = 0; i < count; i++) {
          values[from + i] = (float) FLOAT.get(memory, place + i * step);
        }
      }
      case F16 -> {
        for (int i = 0; i < count; i++) {
          values[from + i] = Float16.fromHalf((short) SHORT.get(memory, place + i * step));
        }
      }
      case BF16 -> {
        for (int i = 0; i < count; i++) {
          values[from + i] = Float16.fromBfloat((short) SHORT.get(memory, place + i * step));
        }
      }
      case I64, I32, I16, I8, I4, U64, U32, U16, U8, U4, BOOL -> throw notA(element, "float");
    }
  }

  /** Writes floats, rounded to the type. */
  public void write(
      ElementType element, int first, int stride, double[] values, int from, int count) {
    int bytes = element.bits() / Byte.SIZE;
    int place = at + first * bytes;
    int step = stride * bytes;
    switch (element) {
      case F64 -> {
        for (int i = 0; i < count; i++) {
          DOUBLE.set(memory, place + i * step, values[from + i]);
        }
      }
      case F32 -> {
        for (int i = 0; i < count; i++) {
          FLOAT.set(memory, place + i * step, (float) values[from + i]);
        }
      }
      case F16 -> {
        for (int i = 0; i < count; i++) {
          SHORT.set(memory, place + i * step, Float16.toHalf(values[from + i]));
        }
      }
      case BF16 -> {
        for (int i = 0; i < count; i++) {
          SHORT.set(memory, place + i * step, Float16.toBfloat(values[from + i]));
        }
      }
      case I64, I32, I16, I8, I4, U64, U32, U16, U8, U4, BOOL -> throw notA(element, "float");
    }
  }

  /** Reads integers of a type; u64 as its bits. */
  void read(ElementType element, int first, int stride, long[] values, int from, int count) {
    int bytes = element.bits() / Byte.SIZE;
    int place = at + first * bytes;
    int step = stride * bytes;
    switch (element) {
      case I64, U64 -> {
        for (int i = 0; i < count; i++) {
          values[from + i] = (long) LONG.get(memory, place + i * step);
        }
      }
      case I32 -> {
        for (int i = 0; i < count; i++) {
          values[from + i] = (int) INT.get(memory, place + i * step);
        }
      }
      case U32 -> {
        for (int i = 0; i < count; i++) {
          values[from + i] = Integer.toUnsignedLong((int) INT.get(memory, place + i * step));
        }
      }
      case I16 -> {
        for (int i = 0; i < count; i++) {
          values[from + i] = (short) SHORT.get(memory, place + i * step);
        }
      }
      case U16 -> {
        for (int i = 0; i < count; i++) {
          values[from + i] = Short.toUnsignedLong((short) SHORT.get(memory, place + i * step));
        }
      }
      case I8 -> {
        for (int i = 0; i < count; i++) {
          values[from + i] = memory[place + i * step];
        }
      }
      case U8, BOOL -> {
        for (int i = 0; i < count; i++) {
          values[from + i] = Byte.toUnsignedLong(memory[place + i * step]);
        }
      }
      case F64, F32, F16, BF16, I4, U4 -> throw notA(element, "integer of whole bytes");
    }
  }

  /** Writes integers, wrapped to the type. */
  public void write(
      ElementType element, int first, int stride, long[] values, int from, int count) {
    int bytes = element.bits() / Byte.SIZE;
    int place = at + first * bytes;
    int step = stride * bytes;
    switch (element) {
      case I64, U64 -> {
        for (int i = 0; i < count; i++) {
          LONG.set(memory, place + i * step, values[from + i]);
        }
      }
      case I32, U32 -> {
        for (int i = 0; i < count; i++) {
          INT.set(memory, place + i * step, (int) values[from + i]);
        }
      }
      case I16, U16 -> {
        for (int i = 0; i < count; i++) {
          SHORT.set(memory, place + i * step, (short) values[from + i]);
        }
      }
      case I8, U8, BOOL -> {
        for (int i = 0; i < count; i++) {
          memory[place + i * step] = (byte) values[from + i];
        }
      }
      case F64, F32, F16, BF16, I4, U4 -> throw notA(element, "integer of whole bytes");
    }
  }

  private static IllegalArgumentException notA(ElementType element, String what) {
    return new IllegalArgumentException(element + " isn't a type of " + what);
  }

  /** Reads contiguous floats of a type. */
  public double[] doubles(ElementType element, int count) {
    double[] values = new double[count];
    read(element, 0, 1, values, 0, count);
    return values;
  }

  /** Reads contiguous integers of a type. */
  public long[] longs(ElementType element, int count) {
    long[] values = new long[count];
    read(element, 0, 1, values, 0, count);
    return values;
  }

  /** Reads strided floats in row-major order. */
  public double[] doubles(ElementType element, int[] extents, int[] strides) {
    double[] values = new double[Grid.elements(extents)];
    Grid.lines(
        extents,
        strides,
        (from, first, stride, count) -> read(element, first, stride, values, from, count));
    return values;
  }

  /** Reads strided integers in row-major order. */
  public long[] longs(ElementType element, int[] extents, int[] strides) {
    long[] values = new long[Grid.elements(extents)];
    Grid.lines(
        extents,
        strides,
        (from, first, stride, count) -> read(element, first, stride, values, from, count));
    return values;
  }

  public void write(ElementType element, double[] values) {
    write(element, 0, 1, values, 0, values.length);
  }

  public void write(ElementType element, long[] values) {
    write(element, 0, 1, values, 0, values.length);
  }

  /** Copies {@code count} elements of a size in bytes from another place to this one. */
  void copy(int bytes, int to, int toStride, Place source, int from, int fromStride, int count) {
    int place = at + to * bytes;
    int origin = source.at + from * bytes;
    if (toStride == 1 && fromStride == 1) {
      System.arraycopy(source.memory, origin, memory, place, count * bytes);
      return;
    }
    int step = toStride * bytes;
    int sourceStep = fromStride * bytes;
    switch (bytes) {
      case 1 -> {
        for (int i = 0; i < count; i++) {
          memory[place + i * step] = source.memory[origin + i * sourceStep];
        }
      }
      case Short.BYTES -> {
        for (int i = 0; i < count; i++) {
          SHORT.set(
              memory, place + i * step, (short) SHORT.get(source.memory, origin + i * sourceStep));
        }
      }
      case Integer.BYTES -> {
        for (int i = 0; i < count; i++) {
          INT.set(memory, place + i * step, (int) INT.get(source.memory, origin + i * sourceStep));
        }
      }
      case Long.BYTES -> {
        for (int i = 0; i < count; i++) {
          LONG.set(
              memory, place + i * step, (long) LONG.get(source.memory, origin + i * sourceStep));
        }
      }
      default -> throw new IllegalArgumentException(bytes + " bytes");
    }
  }

  void clear(int from, int bytes) {
    Arrays.fill(memory, at + from, at + from + bytes, (byte) 0);
  }
}
