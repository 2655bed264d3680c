package io.partita.ir.eval;

import io.partita.ir.op.Quantized;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.TensorType;
import java.util.function.IntUnaryOperator;

/** Conversions between real numbers and quantized integers. */
final class QuantizationKernels {
  private QuantizationKernels() {}

  /** The quotient is rounded to f32, or kept in f64 if an operand is f64. */
  static Tensor quantize(
      Quantized.Quantize quantize, Tensor x, Tensor scale, Tensor zeroPoint, TensorType type) {
    boolean wide = x.element() == ElementType.F64 || scale.element() == ElementType.F64;
    IntUnaryOperator parameter = parameters(x, scale, quantize.axis(), quantize.block());
    double[] values = x.doubles();
    double[] scales = scale.doubles();
    double[] zeros = zeroPoint.doubles();
    ElementType to = quantize.to();
    double least = to.minimum();
    double most = to == ElementType.U64 ? 0x1p64 : to.maximum();
    long[] out = new long[values.length];
    for (int i = 0; i < out.length; i++) {
      int at = parameter.applyAsInt(i);
      double quotient = values[i] / scales[at];
      double rounded = Math.rint(wide ? quotient : (float) quotient) + zeros[at];
      double kept = Double.isNaN(rounded) ? least : Math.max(least, Math.min(most, rounded));
      out[i] = saturated(kept, to);
    }
    return Tensor.ofLongs(type, out);
  }

  private static long saturated(double value, ElementType to) {
    if (to == ElementType.U64 && value >= 0x1p63) {
      return value >= 0x1p64 ? -1 : (long) (value - 0x1p63) ^ Long.MIN_VALUE;
    }
    return (long) value;
  }

  static Tensor dequantize(
      Quantized.Dequantize dequantize, Tensor q, Tensor scale, Tensor zeroPoint, TensorType type) {
    boolean wide = type.element() == ElementType.F64 || scale.element() == ElementType.F64;
    IntUnaryOperator parameter = parameters(q, scale, dequantize.axis(), dequantize.block());
    double[] scales = scale.doubles();
    double[] zeros = zeroPoint.doubles();
    double[] values = q.doubles();
    double[] out = new double[values.length];
    for (int i = 0; i < out.length; i++) {
      int at = parameter.applyAsInt(i);
      double difference = values[i] - zeros[at];
      out[i] = (wide ? difference : (float) difference) * scales[at];
    }
    return Tensor.ofDoubles(type, out);
  }

  /** Maps the position of an element to that of its scale. */
  private static IntUnaryOperator parameters(Tensor x, Tensor scale, int axis, long block) {
    if (scale.shape().rank() == 0) {
      return i -> 0;
    }
    Axis line = Axis.of(x.shape(), axis);
    int inner = line.inner();
    int extent = line.extent();
    if (block == 0) {
      return i -> i / inner % extent;
    }
    int blocks = (int) scale.shape().extent(axis);
    int size = Math.toIntExact(block);
    return i -> (i / inner / extent * blocks + i / inner % extent / size) * inner + i % inner;
  }
}
