package io.partita.ir.schedule.kernel;

import static io.partita.ir.schedule.kernel.KernelAccess.Kind.READ;
import static io.partita.ir.schedule.kernel.KernelAccess.Kind.WRITE;
import static io.partita.ir.schedule.kernel.KernelAccess.contiguous;

import io.partita.ir.eval.BinaryFunctions;
import io.partita.ir.function.BinaryFunction;
import io.partita.ir.function.UnaryFunction;
import io.partita.ir.schedule.kernel.KernelAccess.Step;
import io.partita.ir.target.KernelClass;
import io.partita.ir.type.ElementType;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.function.DoubleBinaryOperator;
import java.util.function.DoubleUnaryOperator;
import java.util.function.LongBinaryOperator;
import java.util.function.LongUnaryOperator;

/** Kernels of {@code unary.h} and {@code binary.h}: the functions are those of the reference. */
final class ElementwiseKernels {
  /** Types of x and of the result. */
  static final KernelStruct UNARY = unary("unary.h");

  /** The same of another header. */
  static KernelStruct unary(String header) {
    return KernelStruct.in(header, "unary")
        .pointers("x", "out")
        .integers("count")
        .inPlaceOf("x")
        .shared(KernelStruct.PARTS)
        .build(ElementwiseKernels::line, call -> CallWork.elements(call.get("count")));
  }

  /** Types of both operands and of the result. */
  private static final KernelStruct BINARY =
      KernelStruct.in("binary.h", "binary")
          .pointers("left", "right", "out")
          .axes("extents", "left_strides", "right_strides")
          .inPlaceOf("left", "right")
          .shared(KernelStruct.PARTS)
          .build(
              all -> {
                all.add("left", READ, all.bits(0), all.steps("extents", "left_strides"));
                all.add("right", READ, all.bits(0), all.steps("extents", "right_strides"));
                all.add("out", WRITE, all.bits(1), contiguous(all.product("extents")));
              },
              call -> call.walk("extents"));

  /** Type of the selected elements. */
  private static final KernelStruct SELECT =
      KernelStruct.in("binary.h", "select")
          .pointers("condition", "then", "otherwise", "out")
          .axes("extents", "condition_strides", "then_strides", "otherwise_strides")
          .shared(KernelStruct.PARTS)
          .build(
              all -> {
                all.add("condition", READ, Byte.SIZE, all.steps("extents", "condition_strides"));
                all.add("then", READ, all.bits(0), all.steps("extents", "then_strides"));
                all.add("otherwise", READ, all.bits(0), all.steps("extents", "otherwise_strides"));
                all.add("out", WRITE, all.bits(0), contiguous(all.product("extents")));
              },
              call -> call.walk("extents"));

  /** Packed elements are in a tile of bytes. */
  private static void line(Accesses all) {
    all.add("x", READ, Math.max(all.bits(0), Byte.SIZE), line(all, all.bits(0)));
    all.add("out", WRITE, Math.max(all.bits(1), Byte.SIZE), line(all, all.bits(1)));
  }

  private static List<Step> line(Accesses all, int bits) {
    long count = all.get("count");
    return contiguous(bits < Byte.SIZE ? Math.ceilDiv(count * bits, Byte.SIZE) : count);
  }

  private static final Set<UnaryFunction> EXACT = exact();

  private static final Set<BinaryFunction> OF_BOOLEANS =
      EnumSet.of(BinaryFunction.AND, BinaryFunction.OR, BinaryFunction.XOR, BinaryFunction.EQUAL);

  private ElementwiseKernels() {}

  static void add(KernelTable table) {
    for (UnaryFunction function : UnaryFunction.values()) {
      boolean isOfF32 = function.acceptsFloats();
      boolean isOfF64 =
          EXACT.contains(function)
              || function == UnaryFunction.EXP
              || function == UnaryFunction.LOG;
      if (isOfF32) {
        unary(table, function, ElementType.F32);
      }
      if (isOfF64) {
        unary(table, function, ElementType.F64);
      }
      if (function.acceptsIntegers()) {
        for (ElementType element :
            List.of(ElementType.I32, ElementType.I8, ElementType.I64, ElementType.U64)) {
          unary(table, function, element);
        }
      }
    }
    unary(table, UnaryFunction.NOT, ElementType.BOOL);
    for (BinaryFunction function : BinaryFunction.values()) {
      for (ElementType element : ElementType.values()) {
        if (hasKernel(function, element)) {
          binary(table, function, element);
        }
      }
    }
    for (int bits : new int[] {8, 16, 32, 64}) {
      table.add(
          SELECT,
          "select_" + bits,
          KernelClass.ELEMENTWISE,
          List.of(MovementKernels.element(bits)),
          call -> select(call, bits / Byte.SIZE));
    }
  }

  /** Exact functions of floats. */
  private static Set<UnaryFunction> exact() {
    Set<UnaryFunction> exact = EnumSet.allOf(UnaryFunction.class);
    exact.removeIf(UnaryFunction::isApproximated);
    exact.removeIf(function -> !function.acceptsFloats());
    return exact;
  }

  private static boolean hasKernel(BinaryFunction function, ElementType element) {
    boolean isLogical = function.isLogical();
    return switch (element) {
      case F32, F64 -> !isLogical && !function.isBitwise();
      case I32, I64, U64 -> !isLogical;
      case I8, U8 -> !isLogical && function != BinaryFunction.POW;
      case BOOL -> OF_BOOLEANS.contains(function);
      case F16, BF16, I16, U16, I4, U4, U32 -> false;
    };
  }

  private static void unary(KernelTable table, UnaryFunction function, ElementType element) {
    ElementType result = function.isPredicate() ? ElementType.BOOL : element;
    String name = function.text() + "_" + element.text();
    if (element.isFloat()) {
      DoubleUnaryOperator operator = function.ofDouble();
      table.add(
          UNARY,
          name,
          FunctionClasses.of(function),
          List.of(element, result),
          EXACT.contains(function),
          call -> {
            double[] values = call.place("x").doubles(element, call.get("count"));
            for (int i = 0; i < values.length; i++) {
              values[i] = operator.applyAsDouble(values[i]);
            }
            write(call.place("out"), result, values);
          });
      return;
    }
    LongUnaryOperator operator = function.ofLong(element);
    table.add(
        UNARY,
        name,
        FunctionClasses.of(function),
        List.of(element, result),
        call -> {
          long[] values = call.place("x").longs(element, call.get("count"));
          for (int i = 0; i < values.length; i++) {
            values[i] = operator.applyAsLong(values[i]);
          }
          call.place("out").write(result, values);
        });
  }

  private static void binary(KernelTable table, BinaryFunction function, ElementType element) {
    ElementType result = function.isComparison() ? ElementType.BOOL : element;
    String name = function.text() + "_" + element.text();
    if (element.isFloat()) {
      table.add(
          BINARY,
          name,
          FunctionClasses.of(function),
          List.of(element, result),
          function != BinaryFunction.POW,
          call -> write(call.place("out"), result, apply(call, function, element)));
      return;
    }
    LongBinaryOperator operator = BinaryFunctions.ofLong(function, element);
    boolean isLogical = element == ElementType.BOOL;
    table.add(
        BINARY,
        name,
        FunctionClasses.of(function),
        List.of(element, result),
        call -> {
          int[] extents = call.integers("extents");
          long[] left = call.place("left").longs(element, extents, call.integers("left_strides"));
          long[] right =
              call.place("right").longs(element, extents, call.integers("right_strides"));
          for (int i = 0; i < left.length; i++) {
            left[i] =
                isLogical
                    ? operator.applyAsLong(left[i] == 0 ? 0 : 1, right[i] == 0 ? 0 : 1)
                    : operator.applyAsLong(left[i], right[i]);
          }
          call.place("out").write(result, left);
        });
  }

  /** Sums and products are the most frequent functions. */
  private static double[] apply(
      KernelArguments call, BinaryFunction function, ElementType element) {
    int[] extents = call.integers("extents");
    double[] left = call.place("left").doubles(element, extents, call.integers("left_strides"));
    double[] right = call.place("right").doubles(element, extents, call.integers("right_strides"));
    if (function == BinaryFunction.ADD) {
      for (int i = 0; i < left.length; i++) {
        left[i] += right[i];
      }
    } else if (function == BinaryFunction.MUL) {
      for (int i = 0; i < left.length; i++) {
        left[i] *= right[i];
      }
    } else {
      DoubleBinaryOperator operator = BinaryFunctions.ofDouble(function);
      for (int i = 0; i < left.length; i++) {
        left[i] = operator.applyAsDouble(left[i], right[i]);
      }
    }
    return left;
  }

  private static void write(Place out, ElementType result, double[] values) {
    if (result.isFloat()) {
      out.write(result, values);
      return;
    }
    long[] longs = new long[values.length];
    for (int i = 0; i < longs.length; i++) {
      longs[i] = (long) values[i];
    }
    out.write(result, longs);
  }

  private static void select(KernelArguments call, int bytes) {
    int[] extents = call.integers("extents");
    long[] condition =
        call.place("condition")
            .longs(ElementType.BOOL, extents, call.integers("condition_strides"));
    Place out = call.place("out");
    Place then = call.place("then");
    Place otherwise = call.place("otherwise");
    int[] position = new int[1];
    Grid.lines(
        extents,
        call.integers("then_strides"),
        call.integers("otherwise_strides"),
        (first, stride, other, otherStride, count) -> {
          for (int i = 0; i < count; i++) {
            int to = position[0]++;
            if (condition[to] != 0) {
              out.copy(bytes, to, 1, then, first + i * stride, 1, 1);
            } else {
              out.copy(bytes, to, 1, otherwise, other + i * otherStride, 1, 1);
            }
          }
        });
  }
}
