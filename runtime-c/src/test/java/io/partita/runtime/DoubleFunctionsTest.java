package io.partita.runtime;

import io.partita.ir.eval.OpEvaluator;
import io.partita.ir.function.BinaryFunction;
import io.partita.ir.function.UnaryFunction;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.Op;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.DoubleBinaryOperator;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Tests functions of f64 against the bounds of double_functions.h; Java's functions have errors up
 * to 1 ulp.
 */
@ExtendWith(WithKernels.class)
class DoubleFunctionsTest {
  private static final double U = 0x1p-53;
  private static final int COUNT = 20_000;

  private final SplittableRandom random = new SplittableRandom(4);

  private Tensor numbers(double from, double to) {
    double[] values = new double[COUNT];
    for (int i = 0; i < COUNT; i++) {
      values[i] = random.nextDouble(from, to);
    }
    return Tensor.ofDoubles(TensorType.of(ElementType.F64, COUNT), values);
  }

  private static void verify(
      Op op, KernelCall call, Kernels kernels, DoubleBinaryOperator bound, Tensor... operands) {
    double[] expected = OpEvaluator.evaluate(op, List.of(operands)).getFirst().doubles();
    double[] found = kernels.result(call).doubles();
    for (int i = 0; i < expected.length; i++) {
      double most = bound.applyAsDouble(operands[operands.length - 1].getDouble(i), expected[i]);
      boolean near =
          Double.compare(found[i], expected[i]) == 0
              || Math.abs(found[i] - expected[i]) <= most + 0x1p-1022;
      if (!near) {
        throw new AssertionError(
            "%s: element %d is %s and not %s".formatted(call, i, found[i], expected[i]));
      }
    }
  }

  private static void unary(
      UnaryFunction function, Tensor x, Kernels kernels, DoubleBinaryOperator bound) {
    KernelCall call =
        new KernelCall("partita_" + function.text() + "_f64").in(x).out(x.type()).i32(x.size());
    verify(new Elementwise.Unary(function), call, kernels, bound, x);
  }

  @Test
  void exponentials(Kernels kernels) {
    Tensor odd = new Samples(6).oddDoubles(Shape.of(COUNT));
    for (Tensor x : List.of(numbers(-1, 1), numbers(-720, 720), odd)) {
      unary(UnaryFunction.EXP, x, kernels, (each, y) -> 6 * U * y);
    }
  }

  @Test
  void logarithms(Kernels kernels) {
    Tensor odd = new Samples(7).oddDoubles(Shape.of(COUNT));
    for (Tensor x : List.of(numbers(0, 3), numbers(0, 1e300), odd)) {
      unary(UnaryFunction.LOG, x, kernels, (each, y) -> 8 * U * Math.abs(y));
    }
  }

  private static void powers(Tensor base, Tensor exponent, Kernels kernels) {
    Shape shape = base.shape();
    KernelCall call =
        new KernelCall("partita_pow_f64")
            .in(base)
            .in(exponent)
            .out(base.type())
            .i32(Geometry.extents(shape))
            .i32(Geometry.strides(shape))
            .i32(Geometry.strides(shape));
    verify(
        new Elementwise.Binary(BinaryFunction.POW),
        call,
        kernels,
        (y, result) -> 4 * (Math.abs(y) + 60) * U * Math.abs(result),
        base,
        exponent);
  }

  @Test
  void powers(Kernels kernels) {
    powers(numbers(0, 9), numbers(-20, 20), kernels);
  }

  @Tag("thorough")
  @Test
  void largePowersOfNumbersNearOne(Kernels kernels) {
    powers(numbers(0.99, 1.01), numbers(-2000, 2000), kernels);
  }

  /** Includes powers with integral results, which truncation must keep. */
  @Test
  void exactPowers(Kernels kernels) {
    double[] bases = {4, 16, 81, -3, -2, 0, -0.0, 1, -1, 25, 0.25, Double.POSITIVE_INFINITY};
    double[] exponents = {0.5, 0.25, 0.75, 3, -2, 5, -0.5, 0, Double.NEGATIVE_INFINITY, Double.NaN};
    double[] left = new double[bases.length * exponents.length];
    double[] right = new double[left.length];
    for (int i = 0; i < left.length; i++) {
      left[i] = bases[i % bases.length];
      right[i] = exponents[i / bases.length];
    }
    TensorType type = TensorType.of(ElementType.F64, left.length);
    Tensor base = Tensor.ofDoubles(type, left);
    Tensor exponent = Tensor.ofDoubles(type, right);
    Tensor expected =
        OpEvaluator.evaluate(new Elementwise.Binary(BinaryFunction.POW), List.of(base, exponent))
            .getFirst();
    KernelCall call =
        new KernelCall("partita_pow_f64")
            .in(base)
            .in(exponent)
            .out(type)
            .i32(Geometry.extents(type.shape()))
            .i32(Geometry.strides(type.shape()))
            .i32(Geometry.strides(type.shape()));
    Same.verify(call.toString(), kernels.result(call), expected);
  }
}
