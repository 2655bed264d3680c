package io.partita.runtime;

import io.partita.ir.eval.OpEvaluator;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Op;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.Dim;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(WithKernels.class)
class MovementTest {
  private static final List<ElementType> ELEMENTS =
      List.of(ElementType.I8, ElementType.I16, ElementType.I32, ElementType.I64);

  private final Samples samples = new Samples(3);

  private static Tensor reference(Op op, Tensor... operands) {
    return OpEvaluator.evaluate(op, List.of(operands)).getFirst();
  }

  private static void verify(
      Tensor x, long[] strides, Tensor expected, Kernels kernels, String what) {
    KernelCall call =
        new KernelCall("partita_copy_" + x.element().bits())
            .in(x)
            .out(expected.type())
            .i32(Geometry.extents(expected.shape()))
            .i32(Geometry.padded(strides, 0))
            .i32(Geometry.strides(expected.shape()));
    Same.verify(what + " " + call, kernels.result(call), expected);
  }

  @Test
  void transposes(Kernels kernels) {
    Random random = new Random(3);
    for (int round = 0; round < 40; round++) {
      Shape shape = samples.shape(samples.from(1, 6), 4);
      Tensor x = samples.integers(ELEMENTS.get(round % 4), shape);
      List<Integer> permutation =
          new ArrayList<>(IntStream.range(0, shape.rank()).boxed().toList());
      Collections.shuffle(permutation, random);
      long[] own = shape.strides();
      long[] strides = permutation.stream().mapToLong(axis -> own[axis]).toArray();
      Tensor expected = reference(new Movement.Transpose(permutation), x);
      verify(x, strides, expected, kernels, "transpose " + permutation);
    }
  }

  @Test
  void broadcasts(Kernels kernels) {
    for (int round = 0; round < 20; round++) {
      Shape shape = samples.shape(samples.from(1, 5), 4);
      Tensor x = samples.integers(ELEMENTS.get(round % 4), samples.broadcastingTo(shape));
      long[] strides = Geometry.strides(x.shape(), shape);
      verify(x, strides, reference(new Movement.Broadcast(shape), x), kernels, "broadcast");
    }
  }

  /** Returns positive steps, because this harness passes a pointer to the start of an operand. */
  @Test
  void slicesFromTheStart(Kernels kernels) {
    for (int round = 0; round < 20; round++) {
      Shape shape = samples.shape(3, 7);
      Tensor x = samples.integers(ELEMENTS.get(round % 4), shape);
      List<Long> steps = List.of(1L, (long) samples.from(1, 3), (long) samples.from(1, 3));
      List<Dim> sizes =
          IntStream.range(0, 3)
              .mapToObj(axis -> Dim.of(Math.ceilDiv(shape.extent(axis), steps.get(axis))))
              .toList();
      Movement.Slice slice =
          new Movement.Slice(List.of(Dim.ZERO, Dim.ZERO, Dim.ZERO), sizes, steps);
      long[] own = shape.strides();
      long[] strides = LongStream.range(0, 3).map(a -> own[(int) a] * steps.get((int) a)).toArray();
      verify(x, strides, reference(slice, x), kernels, "slice " + steps);
    }
  }

  /** Tests the first part of a concatenation, which leaves the rest of the result unchanged. */
  @Test
  void writesWithStrides(Kernels kernels) {
    Tensor x = samples.integers(ElementType.I32, Shape.of(5, 3, 4));
    Tensor rest = samples.integers(ElementType.I32, Shape.of(5, 2, 4));
    Tensor zeros = Tensor.filled(x.type(), 0);
    Tensor whole = reference(new Movement.Concat(1), zeros, rest);
    KernelCall call =
        new KernelCall("partita_copy_32")
            .in(x)
            .inOut(whole)
            .i32(Geometry.extents(x.shape()))
            .i32(Geometry.strides(x.shape()))
            .i32(Geometry.padded(new long[] {20, 4, 1}, 0));
    Same.verify("concat", kernels.result(call), reference(new Movement.Concat(1), x, rest));
  }

  @Test
  void gathers(Kernels kernels) {
    for (int round = 0; round < 40; round++) {
      Shape shape = Shape.of(samples.from(1, 4), samples.from(1, 9), samples.from(1, 20));
      Tensor data = samples.integers(ELEMENTS.get(round % 4), shape);
      ElementType element = samples.one(ElementType.I32, ElementType.I64);
      long extent = shape.extent(1);
      int count = samples.from(1, 12);
      Tensor indices = Tensor.ofLongs(TensorType.of(element, count), indices(extent, count));
      Tensor expected = reference(new Movement.Gather(1), data, indices);
      KernelCall call = gather(data, indices, expected.type());
      Same.verify(call.toString(), kernels.result(call), expected);
    }
  }

  private long[] indices(long extent, int count) {
    return LongStream.range(0, count)
        .map(i -> samples.from((int) -extent, (int) extent - 1))
        .toArray();
  }

  private static KernelCall gather(Tensor data, Tensor indices, TensorType type) {
    Shape shape = data.shape();
    return new KernelCall(
            "partita_gather_" + data.element().bits() + "_" + indices.element().text())
        .in(data)
        .in(indices)
        .out(type)
        .i32(shape.extent(0), shape.extent(1), shape.extent(2), indices.size());
  }

  @Test
  void gathersElements(Kernels kernels) {
    for (int round = 0; round < 40; round++) {
      Shape shape = Shape.of(samples.from(1, 4), samples.from(1, 9), samples.from(1, 20));
      Tensor data = samples.integers(ELEMENTS.get(round % 4), shape);
      int extent = (int) shape.extent(1);
      Shape taken = shape.with(1, Dim.of(samples.from(1, 12)));
      Tensor indices = samples.integers(ElementType.I64, taken, -extent, extent - 1);
      Tensor expected = reference(new Movement.GatherElements(1), data, indices);
      KernelCall call =
          new KernelCall("partita_gather_elements_" + data.element().bits())
              .in(data)
              .in(indices)
              .out(expected.type())
              .i32(shape.extents())
              .i32(taken.extent(1));
      Same.verify(call.toString(), kernels.result(call), expected);
    }
  }

  @Test
  void gathersZerosForIndicesOutOfRange(Kernels kernels) {
    Tensor data = samples.integers(ElementType.I8, Shape.of(1, 3, 2), 1, 9);
    Tensor indices = Tensor.longs(Shape.of(3), 3, -4, Long.MIN_VALUE);
    TensorType type = TensorType.of(ElementType.I8, 1, 3, 2);
    Same.verify("outside", kernels.result(gather(data, indices, type)), Tensor.filled(type, 0));
  }
}
