package io.partita.ir.schedule.kernel;

import io.partita.ir.target.KernelClass;
import io.partita.ir.type.ElementType;
import java.util.List;

/** Kernels of {@code cast.h}. */
final class CastKernels {
  private static final KernelStruct CAST = ElementwiseKernels.unary("cast.h");

  private static final List<ElementType> WHOLE =
      List.of(
          ElementType.I8,
          ElementType.U8,
          ElementType.I16,
          ElementType.U16,
          ElementType.I32,
          ElementType.U32,
          ElementType.I64,
          ElementType.U64,
          ElementType.F32,
          ElementType.F64,
          ElementType.BOOL);

  private CastKernels() {}

  static void add(KernelTable table) {
    for (ElementType from : WHOLE) {
      for (ElementType to : WHOLE) {
        add(table, from, to);
      }
    }
    for (ElementType half : List.of(ElementType.F16, ElementType.BF16)) {
      for (ElementType wide : List.of(ElementType.F32, ElementType.F64)) {
        add(table, half, wide);
        add(table, wide, half);
      }
    }
    add(table, ElementType.U4, ElementType.U8, call -> unpack(call, false));
    add(table, ElementType.I4, ElementType.I8, call -> unpack(call, true));
    add(table, ElementType.U8, ElementType.U4, CastKernels::pack);
    add(table, ElementType.I8, ElementType.I4, CastKernels::pack);
  }

  private static void add(
      KernelTable table, ElementType from, ElementType to, Kernel.Meaning meaning) {
    String name = "cast_" + from.text() + "_" + to.text();
    table.add(CAST, name, KernelClass.ELEMENTWISE, List.of(from, to), meaning);
  }

  private static void add(KernelTable table, ElementType from, ElementType to) {
    add(
        table,
        from,
        to,
        call -> {
          int count = call.get("count");
          if (from.isFloat()) {
            ofFloats(call.place("x").doubles(from, count), to, call.place("out"));
          } else {
            ofIntegers(from, call.place("x").longs(from, count), to, call.place("out"));
          }
        });
  }

  private static void ofFloats(double[] values, ElementType to, Place out) {
    if (to.isFloat()) {
      out.write(to, values);
      return;
    }
    long[] integers = new long[values.length];
    for (int i = 0; i < integers.length; i++) {
      integers[i] =
          switch (to) {
            case BOOL -> values[i] != 0 ? 1 : 0;
            case U64 -> unsigned(values[i]);
            case I64, I32, I16, I8, I4, U32, U16, U8, U4, F64, F32, F16, BF16 -> (long) values[i];
          };
    }
    out.write(to, integers);
  }

  /** Converts to unsigned: below 2^63 like signed; saturates. */
  private static long unsigned(double value) {
    if (!(value >= 0x1p63)) {
      return (long) value;
    }
    return value >= 0x1p64 ? -1 : (long) (value - 0x1p63) + Long.MIN_VALUE;
  }

  private static void ofIntegers(ElementType from, long[] values, ElementType to, Place out) {
    if (!to.isFloat()) {
      if (to == ElementType.BOOL || from == ElementType.BOOL) {
        for (int i = 0; i < values.length; i++) {
          values[i] = values[i] != 0 ? 1 : 0;
        }
      }
      out.write(to, values);
      return;
    }
    boolean isUnsigned = from == ElementType.U64;
    double[] floats = new double[values.length];
    for (int i = 0; i < floats.length; i++) {
      long value = from == ElementType.BOOL && values[i] != 0 ? 1 : values[i];
      floats[i] = to == ElementType.F32 ? toFloat(value, isUnsigned) : toDouble(value, isUnsigned);
    }
    out.write(to, floats);
  }

  /** The lowest bit is sticky; it is never adjacent to the rounded one. */
  private static float toFloat(long value, boolean isUnsigned) {
    return value >= 0 || !isUnsigned ? (float) value : (float) (value >>> 1 | value & 1) * 2;
  }

  private static double toDouble(long value, boolean isUnsigned) {
    return value >= 0 || !isUnsigned ? (double) value : (double) (value >>> 1 | value & 1) * 2;
  }

  private static void unpack(KernelArguments call, boolean isSigned) {
    int count = call.get("count");
    long[] packed = call.place("x").longs(ElementType.U8, (count + 1) / 2);
    long[] values = new long[count];
    for (int i = 0; i < count; i++) {
      long bits = packed[i / 2] >> (i % 2 * 4) & 15;
      values[i] = isSigned && bits >= 8 ? bits - 16 : bits;
    }
    call.place("out").write(ElementType.U8, values);
  }

  private static void pack(KernelArguments call) {
    int count = call.get("count");
    long[] values = call.place("x").longs(ElementType.U8, count);
    long[] packed = new long[(count + 1) / 2];
    for (int i = 0; i < count; i++) {
      packed[i / 2] |= (values[i] & 15) << (i % 2 * 4);
    }
    call.place("out").write(ElementType.U8, packed);
  }
}
