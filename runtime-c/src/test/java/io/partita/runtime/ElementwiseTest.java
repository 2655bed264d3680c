package io.partita.runtime;

import static io.partita.runtime.Within.TINY;
import static io.partita.runtime.Within.U;

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
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Compares bit for bit, except for powers. */
@ExtendWith(WithKernels.class)
class ElementwiseTest {
  private static final int ROUNDS = 12;

  private final Samples samples = new Samples(2);

  private Tensor operand(ElementType element, Shape shape) {
    return switch (element) {
      case F32 -> samples.oddFloats(shape);
      case F64 -> samples.oddDoubles(shape);
      case BOOL -> samples.booleans(shape);
      case F16, BF16, I64, I32, I16, I8, I4, U64, U32, U16, U8, U4 ->
          samples.integers(element, shape);
    };
  }

  private static Tensor reference(Op op, Tensor... operands) {
    return OpEvaluator.evaluate(op, List.of(operands)).getFirst();
  }

  @ParameterizedTest
  @EnumSource(
      names = {
        "ABS",
        "NEG",
        "SIGN",
        "CEIL",
        "FLOOR",
        "ROUND",
        "SQRT",
        "RECIPROCAL",
        "RELU",
        "IS_NAN",
        "IS_POSITIVE_INFINITY",
        "IS_NEGATIVE_INFINITY"
      })
  void unaryOnFloats(UnaryFunction function, Kernels kernels) {
    unary(function, ElementType.F32, kernels);
    unary(function, ElementType.F64, kernels);
  }

  @ParameterizedTest
  @EnumSource(names = {"ABS", "NEG", "SIGN", "RELU", "BIT_NOT"})
  void unaryOnIntegers(UnaryFunction function, Kernels kernels) {
    unary(function, ElementType.I32, kernels);
    unary(function, ElementType.I8, kernels);
    unary(function, ElementType.I64, kernels);
    unary(function, ElementType.U64, kernels);
  }

  @Test
  void not(Kernels kernels) {
    unary(UnaryFunction.NOT, ElementType.BOOL, kernels);
  }

  private void unary(UnaryFunction function, ElementType element, Kernels kernels) {
    for (int count : List.of(0, 1, 7, 8, 9, 333)) {
      Tensor x = operand(element, Shape.of(count));
      Tensor expected = reference(new Elementwise.Unary(function), x);
      KernelCall call =
          new KernelCall("partita_" + function.text() + "_" + element.text())
              .in(x)
              .out(expected.type())
              .i32(count);
      Same.verify(call.toString(), kernels.result(call), expected);
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"ADD", "SUB", "MUL", "DIV", "MOD", "REMAINDER", "MIN", "MAX"})
  void binaryOnFloats(BinaryFunction function, Kernels kernels) {
    binary(function, ElementType.F32, kernels);
    binary(function, ElementType.F64, kernels);
  }

  @ParameterizedTest
  @EnumSource(
      names = {
        "ADD",
        "SUB",
        "MUL",
        "DIV",
        "MOD",
        "REMAINDER",
        "MIN",
        "MAX",
        "BIT_AND",
        "BIT_OR",
        "BIT_XOR",
        "SHIFT_LEFT",
        "SHIFT_RIGHT"
      })
  void binaryOnIntegers(BinaryFunction function, Kernels kernels) {
    for (ElementType element :
        List.of(
            ElementType.I8, ElementType.U8, ElementType.I32, ElementType.I64, ElementType.U64)) {
      binary(function, element, kernels);
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"EQUAL", "LESS", "LESS_OR_EQUAL", "GREATER", "GREATER_OR_EQUAL"})
  void comparisons(BinaryFunction function, Kernels kernels) {
    for (ElementType element :
        List.of(
            ElementType.F32,
            ElementType.F64,
            ElementType.I8,
            ElementType.U8,
            ElementType.I32,
            ElementType.I64,
            ElementType.U64)) {
      binary(function, element, kernels);
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"AND", "OR", "XOR", "EQUAL"})
  void binaryOnBooleans(BinaryFunction function, Kernels kernels) {
    binary(function, ElementType.BOOL, kernels);
  }

  private void binary(BinaryFunction function, ElementType element, Kernels kernels) {
    for (int round = 0; round < ROUNDS; round++) {
      Shape shape = samples.shape(samples.from(0, 4), samples.one(3, 9));
      boolean swap = samples.flag();
      Tensor left = operand(element, swap ? samples.broadcastingTo(shape) : shape);
      Tensor right = operand(element, swap ? shape : samples.broadcastingTo(shape));
      if (function == BinaryFunction.SHIFT_LEFT || function == BinaryFunction.SHIFT_RIGHT) {
        boolean signed = element.minimum() < 0;
        right = samples.integers(element, right.shape(), signed ? -2 : 0, element.bits() + 2);
      }
      Tensor expected = reference(new Elementwise.Binary(function), left, right);
      KernelCall call = call("partita_" + function.text() + "_", left, right, expected.type());
      Same.verify(call.toString(), kernels.result(call), expected);
    }
  }

  private static KernelCall call(String name, Tensor left, Tensor right, TensorType type) {
    return new KernelCall(name + left.element().text())
        .in(left)
        .in(right)
        .out(type)
        .i32(Geometry.extents(type.shape()))
        .i32(Geometry.strides(left.shape(), type.shape()))
        .i32(Geometry.strides(right.shape(), type.shape()));
  }

  /** The bound of float_functions.h. */
  @Test
  void powers(Kernels kernels) {
    for (double range : List.of(3.0, 40.0)) {
      Tensor base = samples.floats(Shape.of(4000), range);
      Tensor exponent = samples.floats(Shape.of(4000), 9);
      float[] exponents = exponent.floats();
      for (int i = 0; i < exponents.length; i += 2) {
        exponents[i] = Math.round(exponents[i]);
      }
      verifyPower(base, exponent, kernels);
    }
    verifyPower(samples.oddFloats(Shape.of(4000)), samples.oddFloats(Shape.of(4000)), kernels);
  }

  private static void verifyPower(Tensor base, Tensor exponent, Kernels kernels) {
    double[] exact =
        reference(new Elementwise.Binary(BinaryFunction.POW), wide(base), wide(exponent)).doubles();
    KernelCall call = call("partita_pow_", base, exponent, base.type());
    Within.verify(
        call,
        kernels,
        exact,
        (i, y) -> {
          double growth = Math.abs(exponent.getDouble(i) * Math.log(Math.abs(base.getDouble(i))));
          double bound = (16 + 6 * growth) * U * Math.abs(y) + 8 * TINY;
          return Double.isNaN(bound) ? 0 : bound;
        });
  }

  private static Tensor wide(Tensor x) {
    return Tensor.ofDoubles(x.type().with(ElementType.F64), x.doubles());
  }

  @Test
  void select(Kernels kernels) {
    for (ElementType element :
        List.of(ElementType.I8, ElementType.I16, ElementType.F32, ElementType.I64)) {
      for (int round = 0; round < ROUNDS; round++) {
        Shape shape = samples.shape(samples.from(0, 4), 5);
        Tensor condition = samples.booleans(samples.broadcastingTo(shape));
        Tensor then = operand(element, shape);
        Tensor otherwise = operand(element, samples.broadcastingTo(shape));
        KernelCall call =
            new KernelCall("partita_select_" + element.bits())
                .in(condition)
                .in(then)
                .in(otherwise)
                .out(then.type())
                .i32(Geometry.extents(shape))
                .i32(Geometry.strides(condition.shape(), shape))
                .i32(Geometry.strides(shape))
                .i32(Geometry.strides(otherwise.shape(), shape));
        Tensor expected = reference(new Elementwise.Select(), condition, then, otherwise);
        Same.verify(call.toString(), kernels.result(call), expected);
      }
    }
  }

  @Test
  void casts(Kernels kernels) {
    List<ElementType> elements =
        List.of(
            ElementType.I8,
            ElementType.U8,
            ElementType.I16,
            ElementType.U16,
            ElementType.I32,
            ElementType.U32,
            ElementType.I64,
            ElementType.U64,
            ElementType.F32,
            ElementType.F64,
            ElementType.BOOL);
    for (ElementType from : elements) {
      for (ElementType to : elements) {
        Tensor x = operand(from, Shape.of(300));
        Tensor expected = reference(new Elementwise.Cast(to), x);
        KernelCall call =
            new KernelCall("partita_cast_" + from.text() + "_" + to.text())
                .in(x)
                .out(expected.type())
                .i32(x.size());
        Same.verify(call.toString(), kernels.result(call), expected);
      }
    }
  }

  /** Tests all 16-bit floats, and f32 values around them. */
  @ParameterizedTest
  @EnumSource(names = {"F16", "BF16"})
  void castsHalves(ElementType half, Kernels kernels) {
    long[] bits = LongStream.range(0, 1 << 16).toArray();
    Tensor words = Tensor.ofLongs(new TensorType(ElementType.U16, Shape.of(1 << 16)), bits);
    TensorType type = new TensorType(half, words.shape());
    Tensor halves = Tensor.deferred(type, words::bytes);
    Tensor wide = cast(halves, ElementType.F32, kernels);
    float[] between = new float[3 << 16];
    for (int i = 0; i < 1 << 16; i++) {
      float each = wide.floats()[i];
      between[3 * i] = each;
      between[3 * i + 1] = (each + wide.floats()[(i + 1) & 0xffff]) / 2;
      between[3 * i + 2] = Math.nextUp(between[3 * i + 1]);
    }
    cast(Tensor.floats(Shape.of(between.length), between), half, kernels);
    cast(samples.oddFloats(Shape.of(3000)), half, kernels);
    cast(halves, ElementType.F64, kernels);
    double[] beside = new double[between.length / 4];
    for (int i = 0; i < beside.length; i++) {
      double each = between[i * 4 + i % 4];
      beside[i] = i % 3 == 0 ? Math.nextDown(each) : i % 3 == 1 ? each : Math.nextUp(each);
    }
    TensorType doubles = TensorType.of(ElementType.F64, beside.length);
    cast(Tensor.ofDoubles(doubles, beside), half, kernels);
    cast(samples.oddDoubles(Shape.of(3000)), half, kernels);
  }

  @Test
  void packsAndUnpacksNibbles(Kernels kernels) {
    for (int count : List.of(0, 1, 2, 7, 8, 9, 16, 333)) {
      Shape shape = Shape.of(count);
      cast(samples.integers(ElementType.I4, shape), ElementType.I8, kernels);
      cast(samples.integers(ElementType.U4, shape), ElementType.U8, kernels);
      cast(samples.integers(ElementType.I8, shape), ElementType.I4, kernels);
      cast(samples.integers(ElementType.U8, shape), ElementType.U4, kernels);
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"I32", "I64", "U64"})
  void integerPowers(ElementType element, Kernels kernels) {
    boolean signed = element.minimum() < 0;
    for (int round = 0; round < ROUNDS; round++) {
      Tensor base =
          samples.flag()
              ? samples.integers(element, Shape.of(50))
              : samples.integers(element, Shape.of(50), signed ? -3 : 0, 3);
      Tensor exponent = samples.integers(element, Shape.of(50), signed ? -4 : 0, 40);
      Tensor expected = reference(new Elementwise.Binary(BinaryFunction.POW), base, exponent);
      KernelCall call = call("partita_pow_", base, exponent, expected.type());
      Same.verify(call.toString(), kernels.result(call), expected);
    }
  }

  private static Tensor cast(Tensor x, ElementType to, Kernels kernels) {
    Tensor expected = reference(new Elementwise.Cast(to), x);
    KernelCall call =
        new KernelCall("partita_cast_" + x.element().text() + "_" + to.text())
            .in(x)
            .out(expected.type())
            .i32(x.size());
    Same.verify(call.toString(), kernels.result(call), expected);
    return expected;
  }
}
