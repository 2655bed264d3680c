package io.partita.runtime;

import io.partita.ir.eval.OpEvaluator;
import io.partita.ir.function.BinaryFunction;
import io.partita.ir.op.Contraction;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.IntegerNetwork;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Op;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.Dim;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;
import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Compares bit for bit, also floats, because sums have the order of the reference. */
@ExtendWith(WithKernels.class)
class GemmTest {
  private final Samples samples = new Samples(4);

  /** The operands, their shapes and their layouts. */
  private record Product(
      Tensor left, Tensor right, boolean leftTransposed, boolean rightTransposed) {
    Tensor reference(ElementType result) {
      return evaluate(
          new Contraction.MatMul(result),
          leftTransposed ? turned(left) : left,
          rightTransposed ? turned(right) : right);
    }

    private static Tensor turned(Tensor x) {
      return evaluate(new Movement.Transpose(List.of(0, 2, 1)), x);
    }

    /** The fields of struct partita_gemm after the pointers. */
    KernelCall geometry(KernelCall call, boolean accumulate) {
      long[] l = left.shape().extents();
      long[] r = right.shape().extents();
      long m = leftTransposed ? l[2] : l[1];
      long k = leftTransposed ? l[1] : l[2];
      long n = rightTransposed ? r[1] : r[2];
      return call.i32(l[0], 1, m, n, k, accumulate ? 1 : 0)
          .i32(l[1] * l[2], leftTransposed ? 1 : k, leftTransposed ? m : 1)
          .i32(r[0] == 1 ? 0 : r[1] * r[2], rightTransposed ? 1 : n, rightTransposed ? k : 1)
          .i32(m * n, n);
    }
  }

  private static Tensor evaluate(Op op, Tensor... operands) {
    return OpEvaluator.evaluate(op, List.of(operands)).getFirst();
  }

  private static Tensor sum(Tensor left, Tensor right) {
    return evaluate(new Elementwise.Binary(BinaryFunction.ADD), left, right);
  }

  private Tensor operand(ElementType element, Shape shape) {
    return element == ElementType.F32 ? samples.floats(shape, 2) : samples.integers(element, shape);
  }

  private Product product(ElementType left, ElementType right, int m) {
    int batch = samples.one(1, 1, 2, 5);
    int k = samples.oneIn(15) ? 0 : samples.from(1, 20);
    int n = samples.from(1, 13);
    boolean leftTransposed = samples.oneIn(3);
    boolean rightTransposed = samples.flag();
    Shape l = leftTransposed ? Shape.of(batch, k, m) : Shape.of(batch, m, k);
    int rightBatch = samples.flag() ? 1 : batch;
    Shape r = rightTransposed ? Shape.of(rightBatch, n, k) : Shape.of(rightBatch, k, n);
    return new Product(operand(left, l), operand(right, r), leftTransposed, rightTransposed);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "f32", "i8_i8", "i8_u8", "u8_i8", "u8_u8", "i16_i8", "i16_i16", "i32_i8", "i32_u8",
        "i32_i32"
      })
  void multiplies(String types, Kernels kernels) {
    for (int round = 0; round < 30; round++) {
      boolean one = round % 5 == 0;
      Product product =
          product(element(types, 0), element(types, 1), one ? 1 : samples.from(1, 11));
      ElementType result = types.equals("f32") ? ElementType.F32 : ElementType.I32;
      Tensor expected = product.reference(result);
      boolean biased = samples.flag();
      Tensor bias = operand(result, Shape.of(expected.shape().extent(2)));
      KernelCall call =
          new KernelCall("partita_gem" + (one ? "v_" : "m_") + types)
              .in(product.left)
              .in(product.right);
      call = biased ? call.in(bias) : call.absent();
      call = product.geometry(call.out(expected.type()), false);
      Tensor found = kernels.result(call);
      Same.verify(call.toString(), found, biased ? sum(expected, bias) : expected);
    }
  }

  /** Compares with the exact sum within 2 k u of the sum of magnitudes, each at most 4. */
  @Test
  void contractsWithinTheBound(Kernels kernels) {
    for (int round = 0; round < 20; round++) {
      Product product = product(ElementType.F32, ElementType.F32, samples.from(1, 9));
      Product wide =
          new Product(
              wide(product.left),
              wide(product.right),
              product.leftTransposed,
              product.rightTransposed);
      Tensor exact = wide.reference(ElementType.F64);
      TensorType type = exact.type().with(ElementType.F32);
      KernelCall call =
          product.geometry(
              new KernelCall("partita_gemm_f32")
                  .in(product.left)
                  .in(product.right)
                  .absent()
                  .out(type),
              false);
      long k = product.left.shape().extent(product.leftTransposed ? 1 : 2);
      Within.verify(call, kernels, exact.doubles(), (i, y) -> 2 * k * Within.U * 4 * k);
    }
  }

  private static Tensor wide(Tensor x) {
    return Tensor.ofDoubles(x.type().with(ElementType.F64), x.doubles());
  }

  private static ElementType element(String types, int index) {
    String[] parts = types.split("_");
    String text = parts[parts.length == 1 ? 0 : index];
    return ElementType.valueOf(text.toUpperCase(java.util.Locale.ROOT));
  }

  /** Tests two tiles of the inner extent; the bias is in the last. */
  @ParameterizedTest
  @ValueSource(strings = {"f32", "i8_i8"})
  void accumulates(String types, Kernels kernels) {
    ElementType result = types.equals("f32") ? ElementType.F32 : ElementType.I32;
    Tensor left = operand(element(types, 0), Shape.of(1, 6, 14));
    Tensor right = operand(element(types, 1), Shape.of(1, 14, 9));
    Tensor bias = operand(result, Shape.of(9));
    Tensor whole = sum(new Product(left, right, false, false).reference(result), bias);
    Same.verify(
        "accumulated",
        accumulated(
            types,
            new Product(part(left, 2, 0, 5), part(right, 1, 0, 5), false, false),
            new Product(part(left, 2, 5, 9), part(right, 1, 5, 9), false, false),
            bias,
            whole.type(),
            kernels),
        whole);
  }

  /** Returns the sum of two products, the bias added with the second. */
  private static Tensor accumulated(
      String types, Product first, Product second, Tensor bias, TensorType type, Kernels kernels) {
    KernelCall half =
        new KernelCall("partita_gemm_" + types).in(first.left).in(first.right).absent().out(type);
    KernelCall rest =
        new KernelCall("partita_gemm_" + types)
            .in(second.left)
            .in(second.right)
            .in(bias)
            .inOut(kernels.result(first.geometry(half, false)));
    return kernels.result(second.geometry(rest, true));
  }

  /** Tests whole blocks, more than are added together, and single ones, over words of bytes. */
  @ParameterizedTest
  @ValueSource(strings = {"i8_i8", "i8_u8", "u8_i8", "u8_u8"})
  void accumulatesWholeBlocks(String types, Kernels kernels) {
    Tensor left = operand(element(types, 0), Shape.of(2, 26, 12));
    Tensor right = operand(element(types, 1), Shape.of(2, 9, 12));
    Tensor bias = operand(ElementType.I32, Shape.of(9));
    Tensor whole = sum(new Product(left, right, false, true).reference(ElementType.I32), bias);
    Same.verify(
        "accumulated",
        accumulated(
            types,
            new Product(part(left, 2, 0, 4), part(right, 2, 0, 4), false, true),
            new Product(part(left, 2, 4, 8), part(right, 2, 4, 8), false, true),
            bias,
            whole.type(),
            kernels),
        whole);
  }

  private static Tensor part(Tensor x, int axis, long from, long size) {
    List<Dim> starts = new java.util.ArrayList<>(List.of(Dim.ZERO, Dim.ZERO, Dim.ZERO));
    starts.set(axis, Dim.of(from));
    Shape sizes = x.shape().with(axis, Dim.of(size));
    return evaluate(new Movement.Slice(starts, sizes.dims(), List.of(1L, 1L, 1L)), x);
  }

  /** Tests three query heads per kv head. */
  @Test
  void groupsShareARightOperand(Kernels kernels) {
    Tensor left = samples.floats(Shape.of(6, 2, 5), 1);
    Tensor right = samples.floats(Shape.of(2, 5, 7), 1);
    Tensor repeated =
        evaluate(new Movement.Broadcast(Shape.of(2, 3, 5, 7)), right.reshaped(Shape.of(2, 1, 5, 7)))
            .reshaped(Shape.of(6, 5, 7));
    Tensor expected = new Product(left, repeated, false, false).reference(ElementType.F32);
    KernelCall call =
        new KernelCall("partita_gemm_f32")
            .in(left)
            .in(right)
            .absent()
            .out(expected.type())
            .i32(6, 3, 2, 7, 5, 0, 10, 5, 1, 35, 7, 1, 14, 7);
    Same.verify("grouped", kernels.result(call), expected);
  }

  @ParameterizedTest
  @ValueSource(strings = {"i8_i8_i8", "i8_i8_u8", "i8_i8_i32", "u8_i8_i8", "u8_i8_u8", "u8_i8_i32"})
  void requantizes(String types, Kernels kernels) {
    ElementType to = element(types, 2);
    for (int round = 0; round < 30; round++) {
      boolean one = round % 3 == 0;
      Product product = product(element(types, 0), element(types, 1), one ? 1 : samples.from(1, 9));
      Tensor sums = product.reference(ElementType.I32);
      boolean byRow = samples.flag();
      long m = sums.shape().extent(1);
      long n = sums.shape().extent(2);
      Shape parameters = byRow ? Shape.of(m, 1) : Shape.of(n);
      Tensor multiplier =
          samples.flag()
              ? samples.integers(ElementType.I32, parameters)
              : samples.integers(ElementType.I32, parameters, -9000, 9000);
      Tensor addend = samples.integers(ElementType.I32, Shape.SCALAR);
      Tensor bias = samples.integers(ElementType.I32, Shape.of(n), -9000, 9000);
      int shift = samples.from(0, 62);
      Tensor expected =
          evaluate(
              new IntegerNetwork.Requantize(shift, to.minimum() / 2, to.maximum(), to),
              sum(sums, bias),
              multiplier,
              addend);
      KernelCall call =
          new KernelCall("partita_gem" + (one ? "v" : "m") + "_requantize_" + types)
              .in(product.left)
              .in(product.right)
              .in(bias)
              .out(new TensorType(to, sums.shape()));
      call =
          product
              .geometry(call, false)
              .in(multiplier)
              .in(addend)
              .i32(byRow ? 1 : 0, byRow ? 0 : 1, 0, 0)
              .i32(shift, to.minimum() / 2, to.maximum());
      Same.verify(call.toString(), kernels.result(call), expected);
    }
  }

  /**
   * Sums near those at which the level changes, which the bias sets: most levels are computed with
   * floats, others exactly.
   */
  @ParameterizedTest
  @ValueSource(strings = {"i8_i8_i8", "i8_i8_u8"})
  void requantizesBetweenLevels(String types, Kernels kernels) {
    ElementType to = element(types, 2);
    for (int round = 0; round < 40; round++) {
      boolean one = samples.flag();
      long m = one ? 1 : samples.from(6, 20);
      long n = samples.from(1, 12);
      int shift = samples.from(14, 45);
      boolean isPower = samples.flag();
      Tensor multiplier =
          isPower
              ? Tensor.ofLongs(
                  vector(n),
                  LongStream.generate(() -> 1L << samples.from(0, 30)).limit(n).toArray())
              : samples.integers(ElementType.I32, Shape.of(n), 1, Integer.MAX_VALUE);
      long addend =
          samples.flag()
              ? samples.from(0, 1 << 20)
              : samples.integers(ElementType.I32, Shape.SCALAR).longs()[0];
      long[] bias = new long[Math.toIntExact(n)];
      for (int j = 0; j < bias.length; j++) {
        double level = samples.from(-140, 270) + samples.one(0.5, 0.5, 0.4999, 0.25);
        double near = (level * Math.scalb(1.0, shift) - addend) / multiplier.longs()[j];
        bias[j] =
            Math.clamp(
                Math.round(near) + samples.from(-1, 1), Integer.MIN_VALUE, Integer.MAX_VALUE);
      }
      Tensor left = Tensor.filled(new TensorType(ElementType.I8, Shape.of(1, m, 4)), 0);
      Tensor right = samples.integers(ElementType.I8, Shape.of(1, n, 4));
      Product product = new Product(left, right, false, true);
      Tensor sums = Tensor.ofLongs(vector(n), bias);
      IntegerNetwork.Requantize op =
          new IntegerNetwork.Requantize(shift, to.minimum(), to.maximum(), to);
      Tensor offset =
          Tensor.ofLongs(new TensorType(ElementType.I32, Shape.SCALAR), new long[] {addend});
      Tensor expected =
          evaluate(
              new Movement.Broadcast(Shape.of(1, m, n)), evaluate(op, sums, multiplier, offset));
      KernelCall call =
          new KernelCall("partita_gem" + (one ? "v" : "m") + "_requantize_" + types)
              .in(product.left)
              .in(product.right)
              .in(sums)
              .out(expected.type());
      call =
          product
              .geometry(call, false)
              .in(multiplier)
              .in(offset)
              .i32(0, 1, 0, 0)
              .i32(shift, to.minimum(), to.maximum());
      Same.verify(call.toString(), kernels.result(call), expected);
    }
  }

  private static TensorType vector(long n) {
    return new TensorType(ElementType.I32, Shape.of(n));
  }
}
