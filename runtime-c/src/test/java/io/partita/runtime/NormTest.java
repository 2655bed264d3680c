package io.partita.runtime;

import static io.partita.runtime.Within.U;

import io.partita.ir.eval.OpEvaluator;
import io.partita.ir.op.Op;
import io.partita.ir.op.Quantized;
import io.partita.ir.op.Reduction;
import io.partita.ir.op.Structured;
import io.partita.ir.op.Structured.NormKind;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests norms, softmax and rotary embeddings within the bounds of their headers. */
@ExtendWith(WithKernels.class)
class NormTest {
  private final Samples samples = new Samples(5);

  private static Tensor wide(Tensor x) {
    return Tensor.ofDoubles(x.type().with(ElementType.F64), x.doubles());
  }

  private static double[] exact(Op op, List<Tensor> operands) {
    return OpEvaluator.evaluate(op, operands.stream().map(NormTest::wide).toList())
        .getFirst()
        .doubles();
  }

  @ParameterizedTest
  @EnumSource
  void norms(NormKind kind, Kernels kernels) {
    for (int round = 0; round < 40; round++) {
      int rows = samples.one(1, 2, 9);
      int size = samples.one(1, 2, 3, 5, 64, 129);
      Tensor x = shifted(samples.floats(Shape.of(rows, size), 3), samples.one(0f, 1f, -20f));
      boolean scaled = samples.flag();
      boolean biased = samples.flag();
      Tensor scale = samples.floats(Shape.of(size), 2);
      Tensor bias = samples.floats(Shape.of(size), 2);
      List<Tensor> operands = new ArrayList<>(List.of(x));
      if (scaled) {
        operands.add(scale);
      }
      if (biased) {
        operands.add(bias);
      }
      // A double that is exactly a float.
      double epsilon = 1e-5f;
      KernelCall call =
          scaleAndBias(new KernelCall("partita_" + kind(kind)).in(x), scaled, scale, biased, bias);
      call = call.out(x.type()).i32(rows, size).f32(epsilon);
      double[] exact = exact(new Structured.Norm(kind, 1, epsilon, scaled, biased), operands);
      double[] unscaled = normBound(kind, x, size, epsilon);
      Within.verify(
          call,
          kernels,
          exact,
          (i, y) ->
              (size / 8 + 17) * U * unscaled[i] * (scaled ? Math.abs(scale.getDouble(i % size)) : 1)
                  + U * Math.abs(y));
    }
  }

  /** Norms of sums that the cores compute together have the bits of those of one kernel. */
  @ParameterizedTest
  @EnumSource
  void normsBySums(NormKind kind, Kernels kernels) {
    for (int round = 0; round < 40; round++) {
      int rows = samples.one(1, 2, 7, 9);
      int size = samples.one(1, 7, 8, 31, 64, 129, 512);
      Tensor x = shifted(samples.floats(Shape.of(rows, size), 3), samples.one(0f, 1f, -20f));
      Tensor scale = samples.floats(Shape.of(size), 2);
      Tensor bias = samples.floats(Shape.of(size), 2);
      TensorType sums = TensorType.of(ElementType.F32, rows, 8);
      boolean isLayer = kind == NormKind.LAYER;
      boolean scaled = samples.flag();
      boolean biased = samples.flag();
      KernelCall whole =
          scaleAndBias(new KernelCall("partita_" + kind(kind)).in(x), scaled, scale, biased, bias);
      KernelCall elements =
          new KernelCall("partita_norm_sums_f32").in(x).absent().out(sums).i32(rows, size);
      Optional<Tensor> means = isLayer ? Optional.of(kernels.result(elements)) : Optional.empty();
      KernelCall squares = new KernelCall("partita_norm_squares_f32").in(x);
      squares = means.map(squares::in).orElseGet(squares::absent).out(sums).i32(rows, size);
      KernelCall norm = new KernelCall("partita_norm_by_sums_f32").in(x);
      norm = means.map(norm::in).orElseGet(norm::absent).in(kernels.result(squares));
      norm = scaleAndBias(norm, scaled, scale, biased, bias);
      Same.verify(
          kind + " " + rows + " x " + size,
          kernels.result(norm.out(x.type()).i32(rows, size).f32(1e-5)),
          kernels.result(whole.out(x.type()).i32(rows, size).f32(1e-5)));
    }
  }

  /** A norm with its levels has those of the norm's results, also near a half. */
  @ParameterizedTest
  @EnumSource(names = {"I8", "U8"})
  void quantizedNorms(ElementType element, Kernels kernels) {
    for (int round = 0; round < 40; round++) {
      int rows = samples.one(1, 2, 7);
      int size = samples.one(1, 7, 8, 31, 64, 129, 512);
      Tensor x = samples.floats(Shape.of(rows, size), 3);
      Tensor scale = samples.floats(Shape.of(size), 2);
      Tensor squares =
          kernels.result(
              new KernelCall("partita_norm_squares_f32")
                  .in(x)
                  .absent()
                  .out(TensorType.of(ElementType.F32, rows, 8))
                  .i32(rows, size));
      Tensor norm =
          kernels.result(
              new KernelCall("partita_norm_by_sums_f32")
                  .in(x)
                  .absent()
                  .in(squares)
                  .in(scale)
                  .absent()
                  .out(x.type())
                  .i32(rows, size)
                  .f32(1e-5));
      float near = Math.abs(norm.floats()[samples.from(0, rows * size - 1)]);
      float step = samples.oneIn(8) ? 0x1p-126f : near / (samples.from(0, 130) + 0.5f);
      Tensor steps = Tensor.floats(Shape.SCALAR, step);
      Tensor zero = samples.integers(element, Shape.SCALAR);
      Same.verify(
          rows + " x " + size + " by " + step,
          kernels.result(
              new KernelCall("partita_rms_norm_quantize_f32_" + element.text())
                  .in(x)
                  .in(squares)
                  .in(scale)
                  .in(steps)
                  .in(zero)
                  .out(TensorType.of(element, rows, size))
                  .i32(rows, size)
                  .f32(1e-5)),
          OpEvaluator.evaluate(new Quantized.Quantize(1, 0, element), List.of(norm, steps, zero))
              .getFirst());
    }
  }

  private static String kind(NormKind kind) {
    return new Structured.Norm(kind, 1, 0, false, false).mnemonic() + "_f32";
  }

  private static KernelCall scaleAndBias(
      KernelCall call, boolean scaled, Tensor scale, boolean biased, Tensor bias) {
    KernelCall withScale = scaled ? call.in(scale) : call.absent();
    return biased ? withScale.in(bias) : withScale.absent();
  }

  private static Tensor shifted(Tensor x, float by) {
    float[] values = x.floats().clone();
    for (int i = 0; i < values.length; i++) {
      values[i] += by;
    }
    return Tensor.of(x.type(), values);
  }

  /** |x| / root, or (|x - mean| + mean of |x|) / root. */
  private static double[] normBound(NormKind kind, Tensor x, int size, double epsilon) {
    double[] values = x.doubles();
    double[] bound = new double[values.length];
    for (int from = 0; from < values.length; from += size) {
      double[] row = Arrays.copyOfRange(values, from, from + size);
      boolean centred = kind == NormKind.LAYER;
      double mean = centred ? Arrays.stream(row).average().orElseThrow() : 0;
      double shift = centred ? Arrays.stream(row).map(Math::abs).average().orElseThrow() : 0;
      double squares = Arrays.stream(row).map(v -> (v - mean) * (v - mean)).average().orElseThrow();
      for (int i = 0; i < size; i++) {
        bound[from + i] = (Math.abs(row[i] - mean) + shift) / Math.sqrt(squares + epsilon);
      }
    }
    return bound;
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void softmax(boolean logarithm, Kernels kernels) {
    for (int round = 0; round < 40; round++) {
      Shape shape = Shape.of(samples.from(1, 5), samples.one(1, 2, 17, 130), samples.one(1, 1, 3));
      Tensor x = samples.floats(shape, samples.one(1, 30));
      Reduction.Softmax op = new Reduction.Softmax(1, logarithm);
      KernelCall call =
          new KernelCall("partita_" + op.mnemonic() + "_f32")
              .in(x)
              .out(x.type())
              .i32(shape.extents());
      double extent = shape.extent(1);
      // Arguments of exponentials are at most 60 in magnitude.
      Within.verify(
          call,
          kernels,
          exact(op, List.of(x)),
          (i, y) ->
              logarithm ? (extent + 16 + 2 * Math.abs(y)) * U : (extent + 12 + 2 * 60) * U * y);
    }
  }

  @Test
  void softmaxInPlace(Kernels kernels) {
    Tensor x = samples.floats(Shape.of(3, 20), 4);
    KernelCall apart = new KernelCall("partita_softmax_f32").in(x).out(x.type()).i32(3, 20, 1);
    KernelCall inPlace = new KernelCall("partita_softmax_f32").inOut(x).same(0).i32(3, 20, 1);
    Same.verify("in place", kernels.result(inPlace), kernels.result(apart));
  }

  @Test
  void softmaxOfFullyMaskedRowsIsNan(Kernels kernels) {
    float least = Float.NEGATIVE_INFINITY;
    Tensor x = Tensor.floats(Shape.of(2, 2), least, least, least, 1);
    KernelCall call = new KernelCall("partita_softmax_f32").in(x).out(x.type()).i32(2, 2, 1);
    Tensor expected = Tensor.floats(x.shape(), Float.NaN, Float.NaN, 0, 1);
    Same.verify("masked", kernels.result(call), expected);
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void rotary(boolean interleaved, Kernels kernels) {
    for (int round = 0; round < 20; round++) {
      int heads = samples.from(1, 4);
      int seq = samples.from(1, 6);
      int half = samples.from(1, 5);
      int d = 2 * half + samples.one(0, 0, 1, 4);
      Tensor x = samples.floats(Shape.of(1, heads, seq, d), 2);
      Tensor cosines = samples.floats(Shape.of(1, seq, half), 1);
      Tensor sines = samples.floats(Shape.of(1, seq, half), 1);
      KernelCall call =
          new KernelCall("partita_rotary_" + (interleaved ? "interleaved" : "half") + "_f32")
              .in(x)
              .in(cosines)
              .in(sines)
              .out(x.type())
              .i32(heads, seq, d, half, (long) seq * d, d);
      // Each product is at most 2.
      Within.verify(
          call,
          kernels,
          exact(new Structured.RotaryEmbedding(interleaved), List.of(x, cosines, sines)),
          (i, y) -> 2 * U * 4);
    }
  }
}
