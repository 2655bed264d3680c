package io.partita.runtime;

import static io.partita.runtime.Within.U;

import io.partita.ir.eval.OpEvaluator;
import io.partita.ir.function.ReductionKind;
import io.partita.ir.op.Op;
import io.partita.ir.op.Reduction;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.Dim;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

@ExtendWith(WithKernels.class)
class ReductionTest {
  private final Samples samples = new Samples(9);

  private static List<Tensor> reference(Op op, Tensor x) {
    return OpEvaluator.evaluate(op, List.of(x));
  }

  private static Tensor wide(Tensor x) {
    return Tensor.ofDoubles(x.type().with(ElementType.F64), x.doubles());
  }

  private KernelCall call(Reduction.Reduce op, Tensor x) {
    int[] kept =
        IntStream.range(0, x.shape().rank()).filter(axis -> !op.axes().contains(axis)).toArray();
    int[] joined = op.axes().stream().mapToInt(axis -> axis).toArray();
    Shape result = op.resultTypes(List.of(x.type())).getFirst().shape();
    return new KernelCall("partita_" + op.mnemonic() + "_" + x.element().text())
        .in(x)
        .out(x.type().with(result))
        .i32(Geometry.padded(chosen(x.shape().extents(), kept), 1))
        .i32(Geometry.padded(chosen(x.shape().strides(), kept), 0))
        .i32(Geometry.padded(chosen(x.shape().extents(), joined), 1))
        .i32(Geometry.padded(chosen(x.shape().strides(), joined), 0));
  }

  private static long[] chosen(long[] values, int[] axes) {
    return IntStream.of(axes).mapToLong(axis -> values[axis]).toArray();
  }

  private Reduction.Reduce draw(ReductionKind kind, int rank) {
    List<Integer> axes = IntStream.range(0, rank).filter(axis -> samples.flag()).boxed().toList();
    return new Reduction.Reduce(kind, axes, samples.flag());
  }

  @ParameterizedTest
  @EnumSource
  void reducesIntegers(ReductionKind kind, Kernels kernels) {
    for (int round = 0; round < 30; round++) {
      Tensor x =
          samples.integers(
              samples.one(ElementType.I8, ElementType.I32, ElementType.I64, ElementType.U64),
              samples.shape(samples.from(0, 5), 5));
      Reduction.Reduce op = draw(kind, x.shape().rank());
      KernelCall call = call(op, x);
      Same.verify(call.toString(), kernels.result(call), reference(op, x).getFirst());
    }
  }

  @ParameterizedTest
  @EnumSource
  void reducesFloats(ReductionKind kind, Kernels kernels) {
    for (int round = 0; round < 30; round++) {
      Shape shape = samples.shape(samples.from(0, 5), 5);
      boolean extreme = kind == ReductionKind.MAX || kind == ReductionKind.MIN;
      Tensor x = extreme ? samples.oddFloats(shape) : samples.floats(shape, 2);
      Reduction.Reduce op = draw(kind, shape.rank());
      KernelCall call = call(op, x);
      if (extreme) {
        Same.verify(call.toString(), kernels.result(call), reference(op, x).getFirst());
      } else {
        long count = op.axes().stream().mapToLong(shape::extent).reduce(1, Math::multiplyExact);
        double[] exact = reference(op, wide(x)).getFirst().doubles();
        double magnitude = kind == ReductionKind.SUM ? 2.0 * count : 2;
        Within.verify(
            call,
            kernels,
            exact,
            (i, y) ->
                kind == ReductionKind.PRODUCT
                    ? count * U * Math.abs(y) + Within.TINY * Math.max(1, Math.abs(y))
                    : (count + 1) * U * magnitude);
      }
    }
  }

  /** Returns few distinct values, so that many are equal. */
  private Tensor line(ElementType element, Shape shape) {
    return element == ElementType.F32 && samples.flag()
        ? samples.oddFloats(shape)
        : samples.integers(element, shape, element.minimum() < 0 ? -3 : 0, 3);
  }

  @ParameterizedTest
  @EnumSource(names = {"F32", "F64", "I8", "I32", "I64", "U64"})
  void argReduces(ElementType element, Kernels kernels) {
    for (int round = 0; round < 40; round++) {
      Shape shape = Shape.of(samples.from(1, 4), samples.from(1, 30), samples.from(1, 4));
      Tensor x = line(element, shape);
      Reduction.ArgReduce op = new Reduction.ArgReduce(samples.flag(), 1, false, samples.flag());
      Tensor expected = reference(op, x).getFirst();
      KernelCall call =
          new KernelCall("partita_" + op.mnemonic() + "_" + element.text())
              .in(x)
              .out(expected.type())
              .i32(shape.extents())
              .i32(op.selectLast() ? 1 : 0);
      Same.verify(call.toString(), kernels.result(call), expected);
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"F32", "F64", "I8", "I32", "I64", "U64"})
  void topK(ElementType element, Kernels kernels) {
    for (int round = 0; round < 40; round++) {
      int extent = samples.from(1, 30);
      Shape shape = Shape.of(samples.from(1, 4), extent, samples.from(1, 3));
      Tensor x = line(element, shape);
      int k = samples.from(0, Math.min(extent, 6));
      Reduction.TopK op = new Reduction.TopK(k, 1, samples.flag());
      TensorType type = x.type().with(shape.with(1, Dim.of(k)));
      KernelCall call =
          new KernelCall("partita_top_k_" + element.text())
              .in(x)
              .out(type)
              .out(type.with(ElementType.I64))
              .i32(shape.extents())
              .i32(k, op.largest() ? 1 : 0);
      List<Tensor> expected = reference(op, x);
      List<Tensor> found = kernels.run(call);
      Same.verify(call + " values", found.get(0), expected.get(0));
      Same.verify(call + " indices", found.get(1), expected.get(1));
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"F32", "I32", "I64"})
  void cumulativeSums(ElementType element, Kernels kernels) {
    for (int round = 0; round < 30; round++) {
      Shape shape = Shape.of(samples.from(0, 4), samples.from(0, 20), samples.from(1, 4));
      Reduction.Cumulative op =
          new Reduction.Cumulative(samples.flag(), 1, samples.flag(), samples.flag());
      Tensor x =
          element == ElementType.F32 ? samples.floats(shape, 2) : samples.integers(element, shape);
      KernelCall call =
          new KernelCall("partita_" + op.mnemonic() + "_" + element.text())
              .in(x)
              .out(x.type())
              .i32(shape.extents())
              .i32(op.exclusive() ? 1 : 0, op.reverse() ? 1 : 0);
      if (element == ElementType.F32) {
        long count = shape.extent(1);
        double[] exact = reference(op, wide(x)).getFirst().doubles();
        Within.verify(
            call,
            kernels,
            exact,
            (i, y) ->
                op.product()
                    ? count * U * Math.abs(y) + Within.TINY * Math.max(1, Math.abs(y))
                    : 2.0 * count * count * U);
      } else {
        Same.verify(call.toString(), kernels.result(call), reference(op, x).getFirst());
      }
    }
  }
}
