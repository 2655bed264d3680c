package io.partita.runtime;

import static io.partita.runtime.Within.TINY;
import static io.partita.runtime.Within.U;

import io.partita.ir.eval.OpEvaluator;
import io.partita.ir.function.UnaryFunction;
import io.partita.ir.op.Elementwise;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.DoubleBinaryOperator;
import java.util.stream.Stream;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Tests float functions against the reference in double, within the bounds of float_functions.h.
 */
@ExtendWith(WithKernels.class)
class FloatFunctionsTest {
  /**
   * Half of them over all exponents, the others where functions are neither 0 nor 1 nor infinite.
   */
  private static final int COUNT = 1 << 18;

  private static final Tensor ARGUMENTS = arguments();

  private static Tensor arguments() {
    SplittableRandom random = new SplittableRandom(1);
    float[] values = new float[COUNT];
    for (int i = 0; i < COUNT; i++) {
      values[i] =
          i % 2 == 0
              ? Float.intBitsToFloat(random.nextInt())
              : (float) (random.nextDouble(-1, 1) * new double[] {12, 110, 1, 1.5}[i / 2 % 4]);
    }
    return Tensor.floats(Shape.of(COUNT), values);
  }

  static Stream<Arguments> functions() {
    return Stream.of(
        bounded(UnaryFunction.EXP, (x, y) -> 3 * U * y + TINY),
        bounded(UnaryFunction.LOG, (x, y) -> 4 * U * Math.abs(y)),
        bounded(UnaryFunction.SIN, (x, y) -> 6 * U * Math.abs(y) + 0x1p-60),
        bounded(UnaryFunction.COS, (x, y) -> 6 * U * Math.abs(y) + 0x1p-60),
        bounded(UnaryFunction.TAN, (x, y) -> 14 * U * Math.abs(y) + 0x1p-59 * (1 + y * y)),
        bounded(UnaryFunction.ASIN, (x, y) -> 6 * U * Math.abs(y) + TINY),
        bounded(UnaryFunction.ACOS, (x, y) -> 8 * U * y),
        bounded(UnaryFunction.ATAN, (x, y) -> 5 * U * Math.abs(y) + TINY),
        bounded(UnaryFunction.ASINH, (x, y) -> 14 * U * Math.abs(y) + TINY),
        bounded(UnaryFunction.ACOSH, (x, y) -> 14 * U * y),
        bounded(UnaryFunction.ATANH, (x, y) -> 12 * U * Math.abs(y) + TINY),
        bounded(UnaryFunction.SINH, (x, y) -> 9 * U * Math.abs(y) + TINY),
        bounded(UnaryFunction.COSH, (x, y) -> 6 * U * y),
        bounded(UnaryFunction.TANH, (x, y) -> 9 * U * Math.abs(y) + TINY),
        bounded(UnaryFunction.ERF, (x, y) -> 5 * U * Math.abs(y) + TINY),
        bounded(UnaryFunction.SIGMOID, (x, y) -> 6 * U * y + TINY),
        bounded(UnaryFunction.SOFTPLUS, (x, y) -> 10 * U * y + TINY),
        bounded(UnaryFunction.GELU, (x, y) -> (40 + 2 * x * x) * U * Math.abs(y) + lost(x)),
        bounded(UnaryFunction.GELU_TANH, FloatFunctionsTest::geluTanhBound),
        bounded(UnaryFunction.SILU, (x, y) -> 7 * U * Math.abs(y) + (1 + Math.abs(x)) * TINY),
        bounded(UnaryFunction.HARD_SWISH, (x, y) -> 3 * U * Math.abs(x) + TINY),
        bounded(
            UnaryFunction.QUICK_GELU,
            (x, y) -> (7 + 3 * Math.abs(x)) * U * Math.abs(y) + (1 + Math.abs(x)) * TINY));
  }

  /** The error of the reference in double where 1 + erf or 1 + tanh is nearly 0. */
  private static double lost(double x) {
    return Math.abs(x) * (0x1p-52 + TINY) + TINY;
  }

  private static double geluTanhBound(double x, double y) {
    double argument = Math.sqrt(2 / Math.PI) * Math.abs(x + 0.044715 * x * x * x);
    return (8 + 8 * argument) * U * Math.abs(y) + lost(x);
  }

  private static Arguments bounded(UnaryFunction function, DoubleBinaryOperator bound) {
    return Arguments.of(function, bound);
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("functions")
  void isWithinItsBound(UnaryFunction function, DoubleBinaryOperator bound, Kernels kernels) {
    KernelCall call =
        new KernelCall("partita_" + function.text() + "_f32")
            .in(ARGUMENTS)
            .out(ARGUMENTS.type())
            .i32(COUNT);
    Tensor wide =
        Tensor.ofDoubles(ARGUMENTS.type().with(ElementType.F64), ARGUMENTS.doubles().clone());
    double[] exact =
        OpEvaluator.evaluate(new Elementwise.Unary(function), List.of(wide)).getFirst().doubles();
    float[] arguments = ARGUMENTS.floats();
    Within.verify(
        call,
        kernels,
        exact,
        (i, y) -> {
          double most = bound.applyAsDouble(arguments[i], y);
          return Double.isNaN(most) ? 0 : most;
        });
  }
}
