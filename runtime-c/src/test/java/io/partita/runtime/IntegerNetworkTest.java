package io.partita.runtime;

import io.partita.ir.eval.OpEvaluator;
import io.partita.ir.op.IntegerNetwork;
import io.partita.ir.op.Op;
import io.partita.ir.op.Quantized;
import io.partita.ir.op.Structured.NormKind;
import io.partita.ir.schedule.kernel.IntegerNetworkKernels;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;
import java.util.List;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Compares bit for bit, with coefficients of real networks and random ones. */
@ExtendWith(WithKernels.class)
class IntegerNetworkTest {
  private static final int ROUNDS = 40;

  private final Samples samples = new Samples(7);

  private static Tensor reference(Op op, Tensor... operands) {
    return OpEvaluator.evaluate(op, List.of(operands)).getFirst();
  }

  /** Returns numbers of the whole range, or of 8 bits. */
  private Tensor operand(ElementType element, Shape shape) {
    return samples.flag()
        ? samples.integers(element, shape)
        : samples.integers(element, shape, element == ElementType.U8 ? 0 : -128, 127);
  }

  private static void verify(KernelCall call, Tensor expected, Kernels kernels) {
    Same.verify(call.toString(), kernels.result(call), expected);
  }

  @ParameterizedTest
  @EnumSource(names = {"I8", "U8", "I32"})
  void requantize(ElementType from, Kernels kernels) {
    for (int round = 0; round < ROUNDS; round++) {
      ElementType to = samples.one(ElementType.I8, ElementType.U8, ElementType.I32);
      Shape shape = samples.shape(samples.from(0, 4), 6);
      Tensor x = operand(from, shape);
      Tensor multiplier = operand(ElementType.I32, samples.broadcastingTo(shape));
      Tensor addend = operand(ElementType.I32, samples.broadcastingTo(shape));
      int shift = samples.one(0, 1, 8, 16, 30, 31, 32, 33, 62);
      IntegerNetwork.Requantize op =
          new IntegerNetwork.Requantize(
              shift,
              samples.one(-128L, 0L, -5L, (long) Integer.MIN_VALUE),
              samples.one(127L, 255L, (long) Integer.MAX_VALUE, Long.MAX_VALUE),
              to);
      KernelCall call =
          new KernelCall("partita_requantize_" + from.text() + "_" + to.text())
              .in(x)
              .in(multiplier)
              .in(addend)
              .out(x.type().with(to))
              .i32(Geometry.extents(shape))
              .i32(Geometry.strides(multiplier.shape(), shape))
              .i32(Geometry.strides(addend.shape(), shape))
              .i64(op.low(), op.high())
              .i32(shift);
      verify(call, reference(op, x, multiplier, addend), kernels);
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"I8", "U8", "I32"})
  void integerSoftmax(ElementType element, Kernels kernels) {
    for (int round = 0; round < ROUNDS; round++) {
      Tensor x = operand(element, Shape.of(samples.from(1, 10), samples.one(1, 2, 16, 33)));
      IntegerNetwork.IntegerSoftmax op =
          samples.flag()
              ? new IntegerNetwork.IntegerSoftmax(1, 173, 15599, 127, 256)
              : new IntegerNetwork.IntegerSoftmax(
                  samples.from(-9, 9),
                  samples.from(-300, 300),
                  samples.one(0L, 77L, Long.MIN_VALUE),
                  samples.from(1, 200),
                  samples.one(2L, 255L, 1L << 31));
      KernelCall call =
          new KernelCall("partita_integer_softmax_" + element.text())
              .in(x)
              .out(x.type())
              .i32(x.shape().extents())
              .i64(op.a(), op.b(), op.c(), op.log2(), op.levels());
      boolean isSmall =
          element != ElementType.I32
              && IntegerNetworkKernels.hasSmallWeights(
                  op.a(), op.b(), op.c(), op.log2(), Math.max(op.levels(), x.shape().extent(1)));
      verify(call.i32(isSmall && samples.flag() ? 1 : 0), reference(op, x), kernels);
    }
  }

  /** Weights by distances, and with these the same softmax. */
  @ParameterizedTest
  @EnumSource(names = {"I8", "U8"})
  void weightedSoftmax(ElementType element, Kernels kernels) {
    for (int round = 0; round < ROUNDS; round++) {
      Tensor x =
          samples.integers(element, Shape.of(samples.from(1, 10), samples.one(1, 2, 16, 33)));
      IntegerNetwork.IntegerSoftmax op =
          samples.flag()
              ? new IntegerNetwork.IntegerSoftmax(1, 173, 15_599, 127, samples.one(256L, 3L))
              : new IntegerNetwork.IntegerSoftmax(
                  samples.from(0, 9),
                  samples.from(-300, 300),
                  samples.one(0L, 77L),
                  samples.from(1, 200),
                  samples.one(2L, 255L));
      long[] expected = new long[256];
      for (int distance = 0; distance < expected.length; distance++) {
        long z = distance / op.log2();
        long shifted = z * op.log2() - distance + op.b();
        expected[distance] = (op.a() * shifted * shifted + op.c()) >> Math.min(z, 63);
      }
      Tensor weights = Tensor.ofLongs(TensorType.of(ElementType.I32, expected.length), expected);
      KernelCall table =
          new KernelCall("partita_softmax_weights_i32")
              .out(weights.type())
              .i32(op.a(), op.b(), op.c(), op.log2());
      verify(table, weights, kernels);
      KernelCall call =
          new KernelCall("partita_weighted_softmax_" + element.text())
              .in(x)
              .in(weights)
              .out(x.type())
              .i32(x.shape().extents())
              .i32(op.levels());
      verify(call, reference(op, x), kernels);
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"I8", "U8", "I32"})
  void powerSoftmax(ElementType element, Kernels kernels) {
    for (int round = 0; round < ROUNDS; round++) {
      Tensor x = operand(element, Shape.of(samples.from(1, 10), samples.one(1, 2, 16, 33)));
      IntegerNetwork.PowerSoftmax op =
          new IntegerNetwork.PowerSoftmax(
              samples.flag() ? 256 : 1L << samples.from(1, 31), samples.one(0, 0, 1, 7, 16, 99));
      KernelCall call =
          new KernelCall("partita_power_softmax_" + element.text())
              .in(x)
              .out(x.type())
              .i32(x.shape().extents())
              .i32(op.unit(), op.group())
              .i64(op.levels());
      verify(call, reference(op, x), kernels);
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"I8", "U8", "I32"})
  void norms(ElementType element, Kernels kernels) {
    for (int round = 0; round < ROUNDS; round++) {
      int size = samples.one(1, 2, 16, 65);
      Tensor x = operand(element, Shape.of(samples.one(1, 2, 12), size));
      Tensor weight = operand(ElementType.I32, Shape.of(samples.flag() ? 1 : size));
      Tensor bias = operand(ElementType.I32, Shape.of(samples.flag() ? 1 : size));
      NormKind kind = samples.one(NormKind.values());
      boolean centred = kind == NormKind.LAYER;
      int shift = samples.one(0, 8, 14, 62);
      IntegerNetwork.IntegerNorm op =
          new IntegerNetwork.IntegerNorm(kind, shift, samples.one(-128L, Long.MIN_VALUE), 127);
      KernelCall call =
          new KernelCall("partita_" + op.mnemonic() + "_" + element.text()).in(x).in(weight);
      call =
          (centred ? call.in(bias) : call.absent())
              .out(x.type())
              .i32(x.shape().extents())
              .i32(weight.size() == 1 ? 0 : 1, bias.size() == 1 ? 0 : 1)
              .i64(op.low(), op.high())
              .i32(shift);
      verify(call, centred ? reference(op, x, weight, bias) : reference(op, x, weight), kernels);
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"I8", "U8", "I32"})
  void gelu(ElementType element, Kernels kernels) {
    for (int round = 0; round < ROUNDS; round++) {
      Tensor x = operand(element, Shape.of(samples.from(0, 50)));
      IntegerNetwork.IntegerGelu op =
          new IntegerNetwork.IntegerGelu(-samples.from(0, 5000), samples.from(0, 1 << 20));
      KernelCall call =
          new KernelCall("partita_integer_gelu_" + element.text())
              .in(x)
              .out(x.type())
              .i64(op.b(), op.one())
              .i32(x.size());
      verify(call, reference(op, x), kernels);
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"I8", "U8"})
  void lookup(ElementType from, Kernels kernels) {
    for (int round = 0; round < ROUNDS; round++) {
      ElementType to = samples.one(ElementType.I8, ElementType.U8, ElementType.F32);
      Tensor x = samples.integers(from, Shape.of(samples.from(0, 300)));
      Shape entries = Shape.of(IntegerNetwork.Lookup.ENTRIES);
      Tensor table = to.isFloat() ? samples.oddFloats(entries) : samples.integers(to, entries);
      KernelCall call =
          new KernelCall("partita_lookup_" + from.text() + "_" + to.text())
              .in(x)
              .in(table)
              .out(x.type().with(to))
              .i32(x.size());
      verify(call, reference(new IntegerNetwork.Lookup(), x, table), kernels);
    }
  }

  /** Tests scalars, one per element of an axis, and one per block. */
  @ParameterizedTest
  @EnumSource(names = {"I8", "U8", "I16", "U16", "I32"})
  void quantize(ElementType element, Kernels kernels) {
    for (int round = 0; round < ROUNDS; round++) {
      int block = samples.one(0, 0, 1, 4);
      Shape shape = Shape.of(samples.from(1, 4), 8, samples.from(1, 5));
      Shape parameters =
          block > 0
              ? Shape.of(shape.extent(0), 8 / block, shape.extent(2))
              : samples.flag() ? Shape.of(8) : Shape.SCALAR;
      Tensor x = samples.flag() ? samples.oddFloats(shape) : samples.floats(shape, 200);
      Tensor scale =
          samples.oneIn(4) ? samples.oddFloats(parameters) : samples.floats(parameters, 1);
      Tensor zero = samples.integers(element, parameters);
      Tensor levels = reference(new Quantized.Quantize(1, block, element), x, scale, zero);
      verify(
          call("partita_quantize_f32_" + element.text(), x, scale, zero, levels.type(), block),
          levels,
          kernels);
      Tensor back =
          reference(new Quantized.Dequantize(1, block, ElementType.F32), levels, scale, zero);
      verify(
          call(
              "partita_dequantize_" + element.text() + "_f32",
              levels,
              scale,
              zero,
              back.type(),
              block),
          back,
          kernels);
    }
  }

  /** One scale for all elements takes no division, except near a half and for odd scales. */
  @ParameterizedTest
  @EnumSource(names = {"I8", "U8"})
  void quantizeNearHalves(ElementType element, Kernels kernels) {
    for (int round = 0; round < ROUNDS; round++) {
      Shape shape = Shape.of(samples.from(1, 4), 8, samples.from(1, 5));
      float step =
          samples.oneIn(8)
              ? samples.one(0x1p-130f, 0x1p-100f, 0x1p126f, Float.MAX_VALUE)
              : (float) Math.scalb(1 + samples.from(0, 1 << 20) * 0x1p-20, samples.from(-12, 3));
      float[] near = new float[Math.toIntExact(shape.elements())];
      boolean areRare = samples.flag();
      for (int i = 0; i < near.length; i++) {
        if (areRare && !samples.oneIn(16)) {
          near[i] = (samples.from(-600, 600) + samples.one(0f, -0.4f, 0.4999f, 0.5002f)) * step;
          continue;
        }
        float half = 0.5f + samples.from(-20, 20) * 0x1p-16f;
        float level = samples.from(-300, 300) + samples.one(0f, 0.5f, half, 0.499f);
        float far =
            samples.one(-1535f, 32767.5f, -33000f, 2047.5f, -1e9f, 1e30f, -1e38f, Float.NaN);
        near[i] = (samples.oneIn(8) ? far : level) * step;
        near[i] =
            samples.oneIn(30)
                ? Float.intBitsToFloat(samples.one(0x7fc01234, 0xffc54321, 0xffffffff))
                : samples.one(near[i], Math.nextUp(near[i]), Math.nextDown(near[i]));
      }
      Tensor x = Tensor.floats(shape, near);
      Tensor scale = Tensor.floats(Shape.SCALAR, step);
      Tensor zero = samples.integers(element, Shape.SCALAR);
      Tensor levels = reference(new Quantized.Quantize(1, 0, element), x, scale, zero);
      verify(
          call("partita_quantize_f32_" + element.text(), x, scale, zero, levels.type(), 0),
          levels,
          kernels);
    }
  }

  private static KernelCall call(
      String name, Tensor x, Tensor scale, Tensor zero, TensorType type, int block) {
    Shape shape = x.shape();
    long inner = shape.extent(2);
    int size = block > 0 ? block : 1;
    Shape cut = Shape.of(shape.extent(0), 8 / size, size, inner);
    long[] strides =
        switch (scale.shape().rank()) {
          case 0 -> new long[4];
          case 1 -> new long[] {0, 1, 0, 0};
          default -> new long[] {8 / size * inner, inner, 0, 1};
        };
    return new KernelCall(name)
        .in(x)
        .in(scale)
        .in(zero)
        .out(type)
        .i32(Geometry.extents(cut))
        .i32(Geometry.padded(strides, 0));
  }
}
