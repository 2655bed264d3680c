package io.partita.ir.eval;

import io.partita.ir.function.BinaryFunction;
import io.partita.ir.function.UnaryFunction;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.TensorType;
import java.lang.foreign.MemorySegment;
import java.util.function.DoubleBinaryOperator;
import java.util.function.DoubleUnaryOperator;
import java.util.function.LongBinaryOperator;
import java.util.function.LongUnaryOperator;

/** Operations that compute each element from those at the same position. */
final class ElementwiseKernels {
  private ElementwiseKernels() {}

  static Tensor unary(UnaryFunction function, Tensor x, TensorType type) {
    Lines lines = Lines.broadcast(type.shape(), x.shape());
    if (!x.element().isFloat()) {
      LongUnaryOperator operator = function.ofLong(x.element());
      long[] in = x.longs();
      long[] out = new long[in.length];
      for (int i = 0; i < in.length; i++) {
        out[i] = operator.applyAsLong(in[i]);
      }
      return Tensor.ofLongs(type, out);
    }
    DoubleUnaryOperator operator = function.ofDouble();
    if (x.element() == ElementType.F32 && type.element() == ElementType.F32) {
      float[] in = x.floats();
      float[] out = new float[in.length];
      lines.forEach(
          (position, offsets, length) -> {
            for (int i = position; i < position + length; i++) {
              out[i] = (float) operator.applyAsDouble(in[i]);
            }
          });
      return Tensor.of(type, out);
    }
    double[] in = x.doubles();
    double[] out = new double[in.length];
    lines.forEach(
        (position, offsets, length) -> {
          for (int i = position; i < position + length; i++) {
            out[i] = operator.applyAsDouble(in[i]);
          }
        });
    return Tensor.ofDoubles(type, out);
  }

  static Tensor binary(BinaryFunction function, Tensor left, Tensor right, TensorType type) {
    Lines lines = Lines.broadcast(type.shape(), left.shape(), right.shape());
    boolean floats = left.element().isFloat() || right.element().isFloat();
    if (floats && function.isComparison()) {
      return compare(BinaryFunctions.ofDouble(function), left, right, type, lines);
    }
    if (left.element() == ElementType.F32 && right.element() == ElementType.F32) {
      return floatBinary(function, left, right, type, lines);
    }
    if (floats) {
      return doubleBinary(BinaryFunctions.ofDouble(function), left, right, type, lines);
    }
    LongBinaryOperator operator = BinaryFunctions.ofLong(function, left.element());
    long[] x = left.longs();
    long[] y = right.longs();
    long[] out = new long[Math.toIntExact(type.shape().elements())];
    int xStride = lines.stride(0);
    int yStride = lines.stride(1);
    lines.forEach(
        (position, offsets, length) -> {
          for (int i = 0; i < length; i++) {
            out[position + i] =
                operator.applyAsLong(x[offsets[0] + i * xStride], y[offsets[1] + i * yStride]);
          }
        });
    return Tensor.ofLongs(type, out);
  }

  /** Also handles an integer base with a float exponent, whose result is truncated. */
  private static Tensor doubleBinary(
      DoubleBinaryOperator operator, Tensor left, Tensor right, TensorType type, Lines lines) {
    double[] x = left.doubles();
    double[] y = right.doubles();
    double[] out = new double[Math.toIntExact(type.shape().elements())];
    int xStride = lines.stride(0);
    int yStride = lines.stride(1);
    lines.forEach(
        (position, offsets, length) -> {
          for (int i = 0; i < length; i++) {
            out[position + i] =
                operator.applyAsDouble(x[offsets[0] + i * xStride], y[offsets[1] + i * yStride]);
          }
        });
    return Tensor.ofDoubles(type, out);
  }

  private static Tensor compare(
      DoubleBinaryOperator operator, Tensor left, Tensor right, TensorType type, Lines lines) {
    double[] x = left.doubles();
    double[] y = right.doubles();
    byte[] out = new byte[Math.toIntExact(type.shape().elements())];
    int xStride = lines.stride(0);
    int yStride = lines.stride(1);
    lines.forEach(
        (position, offsets, length) -> {
          for (int i = 0; i < length; i++) {
            out[position + i] =
                (byte)
                    operator.applyAsDouble(
                        x[offsets[0] + i * xStride], y[offsets[1] + i * yStride]);
          }
        });
    return Tensor.of(type, MemorySegment.ofArray(out));
  }

  private static Tensor floatBinary(
      BinaryFunction function, Tensor left, Tensor right, TensorType type, Lines lines) {
    float[] x = left.floats();
    float[] y = right.floats();
    float[] out = new float[Math.toIntExact(type.shape().elements())];
    int xStride = lines.stride(0);
    int yStride = lines.stride(1);
    Lines.Action action =
        switch (function) {
          case ADD ->
              (position, offsets, length) -> {
                for (int i = 0; i < length; i++) {
                  out[position + i] = x[offsets[0] + i * xStride] + y[offsets[1] + i * yStride];
                }
              };
          case SUB ->
              (position, offsets, length) -> {
                for (int i = 0; i < length; i++) {
                  out[position + i] = x[offsets[0] + i * xStride] - y[offsets[1] + i * yStride];
                }
              };
          case MUL ->
              (position, offsets, length) -> {
                for (int i = 0; i < length; i++) {
                  out[position + i] = x[offsets[0] + i * xStride] * y[offsets[1] + i * yStride];
                }
              };
          case DIV,
              POW,
              MOD,
              REMAINDER,
              MIN,
              MAX,
              AND,
              OR,
              XOR,
              BIT_AND,
              BIT_OR,
              BIT_XOR,
              SHIFT_LEFT,
              SHIFT_RIGHT,
              EQUAL,
              LESS,
              LESS_OR_EQUAL,
              GREATER,
              GREATER_OR_EQUAL -> {
            DoubleBinaryOperator operator = BinaryFunctions.ofDouble(function);
            yield (position, offsets, length) -> {
              for (int i = 0; i < length; i++) {
                out[position + i] =
                    (float)
                        operator.applyAsDouble(
                            x[offsets[0] + i * xStride], y[offsets[1] + i * yStride]);
              }
            };
          }
        };
    lines.forEach(action);
    return Tensor.of(type, out);
  }

  static Tensor select(Tensor condition, Tensor then, Tensor otherwise, TensorType type) {
    Lines lines = Lines.broadcast(type.shape(), condition.shape(), then.shape(), otherwise.shape());
    long[] chosen = condition.longs();
    int conditionStride = lines.stride(0);
    int thenStride = lines.stride(1);
    int otherwiseStride = lines.stride(2);
    if (type.element() == ElementType.F32) {
      float[] x = then.floats();
      float[] y = otherwise.floats();
      float[] out = new float[Math.toIntExact(type.shape().elements())];
      lines.forEach(
          (position, offsets, length) -> {
            for (int i = 0; i < length; i++) {
              out[position + i] =
                  chosen[offsets[0] + i * conditionStride] != 0
                      ? x[offsets[1] + i * thenStride]
                      : y[offsets[2] + i * otherwiseStride];
            }
          });
      return Tensor.of(type, out);
    }
    RawElements x = RawElements.of(then);
    RawElements y = RawElements.of(otherwise);
    RawElements out = RawElements.zeros(type.element(), Math.toIntExact(type.shape().elements()));
    lines.forEach(
        (position, offsets, length) -> {
          for (int i = 0; i < length; i++) {
            if (chosen[offsets[0] + i * conditionStride] != 0) {
              out.copy(x, offsets[1] + i * thenStride, position + i);
            } else {
              out.copy(y, offsets[2] + i * otherwiseStride, position + i);
            }
          }
        });
    return out.toTensor(type);
  }

  static Tensor cast(Tensor x, TensorType type) {
    ElementType to = type.element();
    if (x.element() == to) {
      return x;
    }
    if (!x.element().isFloat()) {
      return to.isFloat() ? integersToFloats(x, type) : Tensor.ofLongs(type, x.longs());
    }
    if (to.isFloat()) {
      return Tensor.ofDoubles(type, x.doubles());
    }
    double[] values = x.doubles();
    long[] longs = new long[values.length];
    for (int i = 0; i < longs.length; i++) {
      longs[i] =
          switch (to) {
            case BOOL -> values[i] != 0 ? 1 : 0;
            case U64 -> toUnsigned(values[i]);
            case F64, F32, F16, BF16, I64, I32, I16, I8, I4, U32, U16, U8, U4 -> (long) values[i];
          };
    }
    return Tensor.ofLongs(type, longs);
  }

  private static long toUnsigned(double value) {
    return value >= 0x1p63 ? (long) (value - 0x1p63) ^ Long.MIN_VALUE : (long) value;
  }

  /** Rounds once, even if a double doesn't hold the integer exactly. */
  private static Tensor integersToFloats(Tensor x, TensorType type) {
    if (x.element().bits() < 64 || type.element() == ElementType.F64) {
      return Tensor.ofDoubles(type, x.doubles());
    }
    boolean unsigned = x.element() == ElementType.U64;
    double[] values = new double[x.size()];
    for (int i = 0; i < values.length; i++) {
      long value = x.getLong(i);
      values[i] =
          Math.abs(value) >>> 53 == 0 && (value >= 0 || !unsigned)
              ? value
              : roundToOdd(value, unsigned);
    }
    return Tensor.ofDoubles(type, values);
  }

  /** Returns the upper 53 bits, the last of which is sticky, which suffices to round once. */
  private static double roundToOdd(long value, boolean unsigned) {
    long upper = unsigned ? value >>> 11 : value >> 11;
    return (double) (upper | ((value & 0x7ff) != 0 ? 1 : 0)) * 0x1p11;
  }
}
