package io.partita.ir.tensor;

import io.partita.ir.type.Dim;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.ref.SoftReference;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.LongStream;

/**
 * An immutable tensor of static shape: row-major, little-endian, with two 4-bit elements per byte,
 * the lower half first. The data is on the heap or a part of a mapped file, which is never copied
 * as a whole unless an accessor states it.
 *
 * <p>Arrays are passed and returned without a copy if the element type allows it; callers must not
 * write to them.
 */
public final class Tensor {
  private static final ValueLayout.OfFloat FLOAT =
      ValueLayout.JAVA_FLOAT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final ValueLayout.OfDouble DOUBLE =
      ValueLayout.JAVA_DOUBLE_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final ValueLayout.OfLong LONG =
      ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final ValueLayout.OfInt INT =
      ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final ValueLayout.OfShort SHORT =
      ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final ValueLayout.OfByte BYTE = ValueLayout.JAVA_BYTE;

  private final TensorType type;

  /** The data, or null if it is created on demand. */
  private final MemorySegment held;

  private final Supplier<MemorySegment> maker;
  private final int elements;
  private volatile SoftReference<MemorySegment> made = new SoftReference<>(null);

  private Tensor(TensorType type, MemorySegment data) {
    this(type, requireSize(type, data), null);
  }

  private Tensor(TensorType type, MemorySegment held, Supplier<MemorySegment> maker) {
    long count = type.shape().elements();
    if (count > Integer.MAX_VALUE - 8) {
      throw new IllegalArgumentException("a tensor of type " + type + " has too many elements");
    }
    this.type = type;
    this.held = held;
    this.maker = maker;
    this.elements = (int) count;
  }

  private static MemorySegment requireSize(TensorType type, MemorySegment data) {
    if (data.byteSize() != type.bytes()) {
      throw new IllegalArgumentException(
          "a tensor of type " + type + " takes " + type.bytes() + " bytes, not " + data.byteSize());
    }
    return data;
  }

  /**
   * Creates a tensor whose data is created at its first use, and again after it was reclaimed: a
   * device's columns of a mapped weight take no memory before they are written.
   *
   * @param maker returns the same {@code type.bytes()} bytes each time
   */
  public static Tensor deferred(TensorType type, Supplier<MemorySegment> maker) {
    return new Tensor(type, null, maker);
  }

  private MemorySegment data() {
    if (held != null) {
      return held;
    }
    MemorySegment data = made.get();
    return data != null ? data : make();
  }

  private synchronized MemorySegment make() {
    MemorySegment data = made.get();
    if (data == null) {
      data = requireSize(type, maker.get());
      made = new SoftReference<>(data);
    }
    return data;
  }

  /** Creates a tensor of {@code data}, whose size must be {@code type.bytes()}. */
  public static Tensor of(TensorType type, MemorySegment data) {
    return new Tensor(type, data);
  }

  public static Tensor of(TensorType type, float[] data) {
    require(type, ElementType.F32);
    return new Tensor(type, MemorySegment.ofArray(data));
  }

  public static Tensor floats(Shape shape, float... data) {
    return of(new TensorType(ElementType.F32, shape), data);
  }

  public static Tensor longs(Shape shape, long... data) {
    return ofLongs(new TensorType(ElementType.I64, shape), data);
  }

  public static Tensor scalar(ElementType element, double value) {
    TensorType type = TensorType.scalar(element);
    return element.isFloat()
        ? ofDoubles(type, new double[] {value})
        : ofLongs(type, new long[] {(long) value});
  }

  private static void require(TensorType type, ElementType element) {
    if (type.element() != element) {
      throw new IllegalArgumentException("expected elements of type " + element + ", got " + type);
    }
  }

  /**
   * Creates a tensor from values, which are rounded to a float type, or converted to an integer
   * type by rounding towards zero and wrapping.
   */
  public static Tensor ofDoubles(TensorType type, double[] values) {
    switch (type.element()) {
      case F64 -> {
        return new Tensor(type, MemorySegment.ofArray(values));
      }
      case F32 -> {
        float[] floats = new float[values.length];
        for (int i = 0; i < floats.length; i++) {
          floats[i] = (float) values[i];
        }
        return new Tensor(type, MemorySegment.ofArray(floats));
      }
      case F16 -> {
        short[] halves = new short[values.length];
        for (int i = 0; i < halves.length; i++) {
          halves[i] = Float16.toHalf(values[i]);
        }
        return new Tensor(type, MemorySegment.ofArray(halves));
      }
      case BF16 -> {
        short[] halves = new short[values.length];
        for (int i = 0; i < halves.length; i++) {
          halves[i] = Float16.toBfloat(values[i]);
        }
        return new Tensor(type, MemorySegment.ofArray(halves));
      }
      case I64, I32, I16, I8, I4, U64, U32, U16, U8, U4, BOOL -> {
        long[] longs = new long[values.length];
        for (int i = 0; i < longs.length; i++) {
          longs[i] = (long) values[i];
        }
        return ofLongs(type, longs);
      }
    }
    throw new AssertionError(type);
  }

  /**
   * Creates a tensor from values, which wrap to an integer type or are rounded to a float type;
   * {@code bool} is a comparison with zero.
   */
  public static Tensor ofLongs(TensorType type, long[] values) {
    switch (type.element()) {
      case I64, U64 -> {
        return new Tensor(type, MemorySegment.ofArray(values));
      }
      case I32, U32 -> {
        int[] ints = new int[values.length];
        for (int i = 0; i < ints.length; i++) {
          ints[i] = (int) values[i];
        }
        return new Tensor(type, MemorySegment.ofArray(ints));
      }
      case I16, U16 -> {
        short[] shorts = new short[values.length];
        for (int i = 0; i < shorts.length; i++) {
          shorts[i] = (short) values[i];
        }
        return new Tensor(type, MemorySegment.ofArray(shorts));
      }
      case I8, U8 -> {
        byte[] bytes = new byte[values.length];
        for (int i = 0; i < bytes.length; i++) {
          bytes[i] = (byte) values[i];
        }
        return new Tensor(type, MemorySegment.ofArray(bytes));
      }
      case BOOL -> {
        byte[] bytes = new byte[values.length];
        for (int i = 0; i < bytes.length; i++) {
          bytes[i] = (byte) (values[i] != 0 ? 1 : 0);
        }
        return new Tensor(type, MemorySegment.ofArray(bytes));
      }
      case I4, U4 -> {
        byte[] bytes = new byte[(values.length + 1) / 2];
        for (int i = 0; i < values.length; i++) {
          bytes[i / 2] |= (byte) ((values[i] & 0xf) << (4 * (i & 1)));
        }
        return new Tensor(type, MemorySegment.ofArray(bytes));
      }
      case F64, F32, F16, BF16 -> {
        double[] doubles = new double[values.length];
        for (int i = 0; i < doubles.length; i++) {
          doubles[i] = values[i];
        }
        return ofDoubles(type, doubles);
      }
    }
    throw new AssertionError(type);
  }

  /** Creates a tensor of one repeated value. */
  public static Tensor filled(TensorType type, double value) {
    double[] values = new double[Math.toIntExact(type.shape().elements())];
    Arrays.fill(values, value);
    return ofDoubles(type, values);
  }

  public TensorType type() {
    return type;
  }

  public Shape shape() {
    return type.shape();
  }

  public ElementType element() {
    return type.element();
  }

  public int size() {
    return elements;
  }

  /** Returns the bytes as in a file. */
  public MemorySegment bytes() {
    return data();
  }

  /** Whether the data is a part of a mapped file. */
  public boolean isMapped() {
    return data().isNative();
  }

  /** Returns the same data with another shape. */
  public Tensor reshaped(Shape shape) {
    TensorType changed = type.with(shape);
    return held != null ? new Tensor(changed, held) : deferred(changed, this::data);
  }

  /**
   * Returns a contiguous part of the data as a tensor, which is created on demand like this one.
   *
   * @param from the offset of its first byte
   */
  public Tensor stretch(TensorType part, long from) {
    return held != null
        ? new Tensor(part, held.asSlice(from, part.bytes()))
        : deferred(part, () -> data().asSlice(from, part.bytes()));
  }

  public double getDouble(int index) {
    return switch (type.element()) {
      case F64 -> data().getAtIndex(DOUBLE, index);
      case F32 -> data().getAtIndex(FLOAT, index);
      case F16 -> Float16.fromHalf(data().getAtIndex(SHORT, index));
      case BF16 -> Float16.fromBfloat(data().getAtIndex(SHORT, index));
      case U64 -> unsignedToDouble(data().getAtIndex(LONG, index));
      case I64, I32, I16, I8, I4, U32, U16, U8, U4, BOOL -> getLong(index);
    };
  }

  private static double unsignedToDouble(long bits) {
    return bits >= 0 ? bits : (double) (bits >>> 1 | bits & 1) * 2.0;
  }

  /**
   * Returns the value of an integer or boolean element, {@code u64} as its bits; floats are rounded
   * towards zero.
   */
  public long getLong(int index) {
    return switch (type.element()) {
      case I64, U64 -> data().getAtIndex(LONG, index);
      case I32 -> data().getAtIndex(INT, index);
      case U32 -> Integer.toUnsignedLong(data().getAtIndex(INT, index));
      case I16 -> data().getAtIndex(SHORT, index);
      case U16 -> Short.toUnsignedLong(data().getAtIndex(SHORT, index));
      case I8 -> data().get(BYTE, index);
      case U8 -> Byte.toUnsignedLong(data().get(BYTE, index));
      case BOOL -> data().get(BYTE, index) != 0 ? 1 : 0;
      case I4 -> (long) (byte) (data().get(BYTE, index / 2) << (4 - 4 * (index & 1))) >> 4;
      case U4 -> data().get(BYTE, index / 2) >> (4 * (index & 1)) & 0xf;
      case F64, F32, F16, BF16 -> (long) getDouble(index);
    };
  }

  public boolean getBoolean(int index) {
    return getLong(index) != 0;
  }

  /** Returns the elements of an f32 tensor; a copy only if they are mapped. */
  public float[] floats() {
    require(type, ElementType.F32);
    return data().heapBase().orElse(null) instanceof float[] array && array.length == elements
        ? array
        : data().toArray(FLOAT);
  }

  /** Copies {@code count} elements of an f32 tensor. */
  public void readFloats(long from, float[] into, int offset, int count) {
    MemorySegment.copy(data(), FLOAT, from * Float.BYTES, into, offset, count);
  }

  /** Returns all elements as doubles, exact except for 64-bit integers. */
  public double[] doubles() {
    if (type.element() == ElementType.F64
        && data().heapBase().orElse(null) instanceof double[] array
        && array.length == elements) {
      return array;
    }
    double[] values = new double[elements];
    if (type.element() == ElementType.F32) {
      float[] floats = floats();
      for (int i = 0; i < elements; i++) {
        values[i] = floats[i];
      }
      return values;
    }
    for (int i = 0; i < elements; i++) {
      values[i] = getDouble(i);
    }
    return values;
  }

  /** Returns all elements as longs, {@code u64} as its bits. */
  public long[] longs() {
    if ((type.element() == ElementType.I64 || type.element() == ElementType.U64)
        && data().heapBase().orElse(null) instanceof long[] array
        && array.length == elements) {
      return array;
    }
    long[] values = new long[elements];
    for (int i = 0; i < elements; i++) {
      values[i] = getLong(i);
    }
    return values;
  }

  /** Whether type and bits are the same (so NaN equals NaN, and 0.0 doesn't equal -0.0). */
  @Override
  public boolean equals(Object other) {
    return this == other
        || other instanceof Tensor tensor
            && type.equals(tensor.type)
            && data().mismatch(tensor.data()) < 0;
  }

  /** Hashes only the type and the first bytes, so that large tensors are cheap. */
  @Override
  public int hashCode() {
    int hash = type.hashCode();
    for (long i = 0; i < Math.min(64, data().byteSize()); i++) {
      hash = 31 * hash + data().get(BYTE, i);
    }
    return hash;
  }

  /** Returns the type and the first elements, for messages. */
  @Override
  public String toString() {
    String head =
        LongStream.range(0, Math.min(8, elements))
            .mapToObj(
                i ->
                    type.element().isFloat()
                        ? Double.toString(getDouble((int) i))
                        : Long.toString(getLong((int) i)))
            .collect(Collectors.joining(", "));
    return type + " {" + head + (elements > 8 ? ", …" : "") + "}";
  }

  /** Whether every element equals {@code value}; false for an empty tensor. */
  public boolean isFilledWith(double value) {
    for (int i = 0; i < elements; i++) {
      if (getDouble(i) != value) {
        return false;
      }
    }
    return elements > 0;
  }

  /** Returns the elements of a one-dimensional integer tensor as dimensions. */
  public Shape asShape() {
    return new Shape(Arrays.stream(longs()).mapToObj(Dim::of).toList());
  }
}
