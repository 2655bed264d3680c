package io.partita.runtime;

import static io.partita.runtime.Within.U;

import io.partita.ir.eval.OpEvaluator;
import io.partita.ir.op.Contraction;
import io.partita.ir.op.IntegerNetwork;
import io.partita.ir.op.Op;
import io.partita.ir.op.Window;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Compares bit for bit, except for means. */
@ExtendWith(WithKernels.class)
class ConvolutionTest {
  private final Samples samples = new Samples(8);

  private static List<Tensor> reference(Op op, List<Tensor> operands) {
    return OpEvaluator.evaluate(op, operands);
  }

  private Tensor operand(ElementType element, Shape shape) {
    return element == ElementType.F32 ? samples.floats(shape, 2) : samples.integers(element, shape);
  }

  /** Returns two spatial dimensions; the first sometimes has extent 1. */
  private Window window(boolean flat) {
    List<List<Long>> lists = new ArrayList<>();
    int most = samples.oneIn(3) ? 1 : 0;
    for (int[] range :
        new int[][] {
          {1, most == 1 ? 1 : 3}, {1, 3 - 2 * most}, {1, 2}, {0, 2 - 2 * most}, {0, 2 - 2 * most}
        }) {
      long first = flat ? (range[0] == 0 ? 0 : 1) : samples.from(range[0], range[1]);
      lists.add(List.of(first, (long) samples.from(range[0], range[1])));
    }
    return new Window(lists.get(0), lists.get(1), lists.get(2), lists.get(3), lists.get(4));
  }

  private static KernelCall geometry(KernelCall call, Window window, Shape data, Shape out) {
    call.i32(data.extent(2), data.extent(3), out.extent(2), out.extent(3));
    for (List<Long> list :
        List.of(
            window.kernel(), window.strides(), window.dilations(), window.low(), window.high())) {
      call.i32(list.get(0), list.get(1));
    }
    return call;
  }

  /** Adds places to gather windows of bytes in. */
  private static KernelCall windows(KernelCall call, int parts, Tensor weight) {
    long elements = weight.shape().elements() / weight.shape().extent(0);
    long words = 4 * Math.ceilDiv(elements, 4);
    return parts == 0
        ? call.absent()
        : call.working(new TensorType(ElementType.I32, Shape.of(parts, words)));
  }

  private Shape data(boolean flat, long channels) {
    return Shape.of(
        samples.from(1, 2), channels, flat ? 1 : samples.from(5, 9), samples.from(5, 9));
  }

  @ParameterizedTest
  @ValueSource(strings = {"f32", "i8_i8", "u8_i8", "i32_i8", "i32_i32"})
  void convolution(String types, Kernels kernels) {
    String[] elements = (types.equals("f32") ? "f32_f32" : types).split("_");
    ElementType left = ElementType.valueOf(elements[0].toUpperCase(java.util.Locale.ROOT));
    ElementType right = ElementType.valueOf(elements[1].toUpperCase(java.util.Locale.ROOT));
    ElementType result = left.isFloat() ? left : ElementType.I32;
    for (int round = 0; round < 30; round++) {
      boolean flat = samples.oneIn(4);
      Window window = window(flat);
      int groups = samples.one(1, 1, 2, 4);
      int channels = samples.from(1, 3);
      int filters = groups * samples.from(1, 9);
      Shape shape = data(flat, (long) groups * channels);
      boolean biased = samples.flag();
      Tensor x = operand(left, shape);
      Tensor weight =
          operand(
              right, Shape.of(filters, channels, window.kernel().get(0), window.kernel().get(1)));
      Tensor bias = operand(result, Shape.of(filters));
      Tensor expected =
          reference(
                  new Contraction.Convolution(window, groups, biased, result),
                  biased ? List.of(x, weight, bias) : List.of(x, weight))
              .getFirst();
      KernelCall call = new KernelCall("partita_convolution_" + types).in(x).in(weight);
      call = (biased ? call.in(bias) : call.absent()).out(expected.type());
      int parts = left.isByte() ? samples.one(0, 1, 3, 8) : 0;
      call =
          geometry(windows(call, parts, weight), window, shape, expected.shape())
              .i32(shape.extent(0), groups, channels, filters, parts);
      Same.verify(call.toString(), kernels.result(call), expected);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"i8_i8_i8", "i8_i8_u8", "u8_i8_i8", "u8_i8_u8"})
  void requantizes(String types, Kernels kernels) {
    ElementType left = types.startsWith("u") ? ElementType.U8 : ElementType.I8;
    ElementType to = types.endsWith("u8") ? ElementType.U8 : ElementType.I8;
    for (int round = 0; round < 20; round++) {
      Window window = window(false);
      int groups = samples.one(1, 1, 2, 4);
      int channels = samples.from(1, 3);
      int filters = groups * samples.from(1, 9);
      Shape shape = data(false, (long) groups * channels);
      Tensor x = operand(left, shape);
      Tensor weight =
          operand(
              ElementType.I8,
              Shape.of(filters, channels, window.kernel().get(0), window.kernel().get(1)));
      Tensor bias = samples.integers(ElementType.I32, Shape.of(filters), -9000, 9000);
      Tensor sums =
          reference(
                  new Contraction.Convolution(window, groups, true, ElementType.I32),
                  List.of(x, weight, bias))
              .getFirst();
      boolean each = samples.flag();
      Tensor multiplier =
          samples.integers(ElementType.I32, Shape.of(each ? filters : 1, 1, 1), -900, 900);
      Tensor addend = samples.integers(ElementType.I32, Shape.of(filters, 1, 1), -900, 900);
      int shift = samples.from(0, 20);
      Tensor expected =
          reference(
                  new IntegerNetwork.Requantize(shift, to.minimum(), 100, to),
                  List.of(sums, multiplier, addend))
              .getFirst();
      KernelCall call =
          new KernelCall("partita_convolution_requantize_" + types)
              .in(x)
              .in(weight)
              .in(bias)
              .out(expected.type());
      int parts = samples.one(0, 1, 3, 8);
      call =
          geometry(windows(call, parts, weight), window, shape, expected.shape())
              .i32(shape.extent(0), groups, channels, filters, parts)
              .in(multiplier)
              .in(addend)
              .i32(each ? 1 : 0, 1, shift, to.minimum(), 100);
      Same.verify(call.toString(), kernels.result(call), expected);
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"F32", "I8", "U8", "I32"})
  void maxPool(ElementType element, Kernels kernels) {
    for (int round = 0; round < 30; round++) {
      boolean flat = samples.oneIn(4);
      Window window = window(flat);
      Shape shape = data(flat, samples.from(1, 3));
      Tensor x =
          element == ElementType.F32 ? samples.oddFloats(shape) : samples.integers(element, shape);
      boolean indices = samples.flag();
      List<Tensor> expected =
          reference(new Contraction.Pool(true, window, samples.flag(), false, indices), List.of(x));
      TensorType type = expected.getFirst().type();
      KernelCall call = new KernelCall("partita_max_pool_" + element.text()).in(x).out(type);
      call = indices ? call.out(type.with(ElementType.I64)) : call.absent();
      call = geometry(call, window, shape, type.shape()).i32(shape.extent(0) * shape.extent(1));
      List<Tensor> found = kernels.run(call);
      for (int i = 0; i < expected.size(); i++) {
        Same.verify(call.toString(), found.get(i), expected.get(i));
      }
    }
  }

  @Test
  void meanPool(Kernels kernels) {
    for (int round = 0; round < 40; round++) {
      boolean flat = samples.oneIn(4);
      Window window = window(flat);
      Shape shape = data(flat, samples.from(1, 3));
      Tensor x = samples.floats(shape, 2);
      boolean countPadding = samples.flag();
      Tensor expected =
          reference(
                  new Contraction.Pool(false, window, samples.flag(), countPadding, false),
                  List.of(x))
              .getFirst();
      KernelCall call = new KernelCall("partita_mean_pool_f32").in(x).out(expected.type());
      call =
          geometry(call, window, shape, expected.shape())
              .i32(shape.extent(0) * shape.extent(1), countPadding ? 1 : 0);
      long kernel = window.kernel().get(0) * window.kernel().get(1);
      // The reference rounds once more.
      Within.verify(call, kernels, expected.doubles(), (i, y) -> (kernel + 2) * U * 2);
    }
  }
}
