package io.partita.backend.java;

import io.partita.ir.function.BinaryFunction;
import io.partita.ir.function.UnaryFunction;
import io.partita.ir.graph.GraphBuilder;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.Op;
import io.partita.ir.op.TypeMismatch;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.TensorType;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class ElementwiseTest {
  /**
   * Both sides compute in double and round once, so they are equal except for the last bit of log1p
   * and exp.
   */
  private static final double TOLERANCE = 1e-6;

  private static EmittedPrograms programs;

  @BeforeAll
  static void open() {
    programs = new EmittedPrograms();
  }

  @AfterAll
  static void close() {
    programs.close();
  }

  /** Returns a program with all functions that are defined on a type. */
  @ParameterizedTest
  @EnumSource(names = {"F32", "BF16", "I64", "U8", "BOOL"})
  void functionsAgreeWithTheEvaluator(ElementType element) {
    Random random = new Random(1);
    GraphBuilder builder = new GraphBuilder("functions");
    TensorType whole = TensorType.of(element, 2, 3, 5);
    TensorType row = TensorType.of(element, 3, 1);
    Value x = builder.input("x", whole);
    Value y = builder.input("y", row);
    for (UnaryFunction function : UnaryFunction.values()) {
      add(builder, new Elementwise.Unary(function), x);
    }
    for (BinaryFunction function : BinaryFunction.values()) {
      add(builder, new Elementwise.Binary(function), x, y);
      add(builder, new Elementwise.Binary(function), y, x);
    }
    for (ElementType to : ElementType.values()) {
      add(builder, new Elementwise.Cast(to), x);
    }
    Value condition = builder.input("condition", TensorType.of(ElementType.BOOL, 5));
    add(builder, new Elementwise.Select(), condition, x, y);
    List<Tensor> inputs =
        List.of(
            EmittedPrograms.random(random, whole),
            EmittedPrograms.random(random, row),
            EmittedPrograms.random(random, TensorType.of(ElementType.BOOL, 5)));
    programs.assertAgrees(
        builder.finish(),
        inputs,
        element == ElementType.F16 ? 1e-3 : element == ElementType.BF16 ? 8e-3 : TOLERANCE);
  }

  @Tag("thorough")
  @ParameterizedTest
  @EnumSource(names = {"F64", "F16", "I32", "I16", "I8", "I4", "U64", "U32", "U16", "U4"})
  void functionsAgreeWithTheEvaluatorOfOtherTypes(ElementType element) {
    functionsAgreeWithTheEvaluator(element);
  }

  private static void add(GraphBuilder builder, Op op, Value... operands) {
    try {
      Node node = builder.addNode(op, List.of(operands));
      builder.output(op.mnemonic() + node.result().type().element(), node.result());
    } catch (TypeMismatch notDefinedOnThisType) {
      return;
    }
  }

  /** Tests that each step of a fused chain rounds or wraps to its type. */
  @ParameterizedTest
  @EnumSource(names = {"F32", "BF16", "I64", "U8", "BOOL"})
  void chainsAgreeWithTheEvaluator(ElementType element) {
    GraphBuilder builder = new GraphBuilder("chain");
    TensorType type = TensorType.of(element, 4, 6);
    Value x = builder.input("x", type);
    Value y = builder.input("y", type);
    List<Value> ends = new ArrayList<>();
    for (ElementType to : ElementType.values()) {
      Value sum =
          element == ElementType.BOOL
              ? builder.add(new Elementwise.Binary(BinaryFunction.AND), x, y)
              : builder.add(new Elementwise.Binary(BinaryFunction.MUL), x, y);
      Value cast = builder.add(new Elementwise.Cast(to), sum);
      if (to != ElementType.BOOL) {
        cast =
            builder.add(
                new Elementwise.Binary(BinaryFunction.ADD),
                cast,
                builder.constant(Tensor.scalar(to, 1)));
        cast = builder.add(new Elementwise.Unary(UnaryFunction.ABS), cast);
      }
      ends.add(builder.add(new Elementwise.Cast(ElementType.I64), cast));
    }
    ends.forEach(end -> builder.output("y" + end.definition().operand(0).type().element(), end));
    Random random = new Random(2);
    programs.assertAgrees(
        builder.finish(),
        List.of(EmittedPrograms.random(random, type), EmittedPrograms.random(random, type)),
        0);
  }

  @Tag("thorough")
  @ParameterizedTest
  @EnumSource(names = {"F64", "F16", "I32", "I16", "I8", "I4", "U64", "U32", "U16", "U4"})
  void chainsAgreeWithTheEvaluatorOfOtherTypes(ElementType element) {
    chainsAgreeWithTheEvaluator(element);
  }

  @ParameterizedTest
  @EnumSource(names = "F32")
  void extremesAgreeWithTheEvaluator(ElementType from) {
    double[] values = {
      Double.NaN,
      Double.POSITIVE_INFINITY,
      Double.NEGATIVE_INFINITY,
      0.0,
      -0.0,
      65504,
      65520,
      1e-7,
      6e-8,
      2.5e-8,
      3e38,
      1e300,
      -1.5,
      0x1p-14,
      0x1.ffcp-15
    };
    Tensor x = Tensor.ofDoubles(TensorType.of(from, values.length), values);
    for (ElementType to : ElementType.values()) {
      programs.assertAgrees(new Elementwise.Cast(to), List.of(x), 0);
    }
  }

  @Tag("thorough")
  @ParameterizedTest
  @EnumSource(names = {"F64", "F16", "BF16"})
  void extremesOfOtherTypesAgreeWithTheEvaluator(ElementType from) {
    extremesAgreeWithTheEvaluator(from);
  }

  /**
   * Arithmetic on bfloat16 numbers is computed in float, and gives the bits of a single rounding:
   * normal numbers, subnormal ones, infinities and NaN, and sums that are halfway between two.
   */
  @Test
  void bfloatArithmeticRoundsOnce() {
    TensorType type = TensorType.of(ElementType.BF16, 1 << 14);
    Random random = new Random(3);
    double[] left = new double[1 << 14];
    double[] right = new double[left.length];
    for (int i = 0; i < left.length; i++) {
      left[i] = Float.intBitsToFloat(random.nextInt() & 0xffff0000);
      int near = (Float.floatToRawIntBits((float) left[i]) >>> 23) + random.nextInt(20) - 10;
      int bits = i % 3 == 0 ? random.nextInt() : near << 23 | random.nextInt(1 << 23);
      right[i] = Float.intBitsToFloat(bits & 0xffff0000);
    }
    GraphBuilder builder = new GraphBuilder("bfloat");
    Value x = builder.input("x", type);
    Value y = builder.input("y", type);
    for (BinaryFunction function :
        List.of(BinaryFunction.ADD, BinaryFunction.SUB, BinaryFunction.MUL, BinaryFunction.DIV)) {
      Value once = builder.add(new Elementwise.Binary(function), x, y);
      builder.output(function.text(), once);
      Value again = builder.add(new Elementwise.Binary(function), x, y);
      builder.output(
          function.text() + " and add",
          builder.add(new Elementwise.Binary(BinaryFunction.ADD), again, y));
    }
    programs.assertAgrees(
        builder.finish(), List.of(Tensor.ofDoubles(type, left), Tensor.ofDoubles(type, right)), 0);
  }

  @ParameterizedTest
  @EnumSource(names = {"I64", "U64", "I32", "U32", "I16", "U16", "I8", "U8", "I4", "U4"})
  void shiftsByConstantsAgreeWithTheEvaluator(ElementType element) {
    TensorType type = TensorType.of(element, 17);
    GraphBuilder builder = new GraphBuilder("shifts");
    Value x = builder.input("x", type);
    for (int count : new int[] {0, 1, element.bits() - 1, element.bits()}) {
      Value by = builder.constant(Tensor.scalar(element, count));
      for (BinaryFunction function :
          List.of(BinaryFunction.SHIFT_LEFT, BinaryFunction.SHIFT_RIGHT)) {
        builder.output(
            function.text() + count, builder.add(new Elementwise.Binary(function), x, by));
        Value more = builder.add(new Elementwise.Binary(BinaryFunction.ADD), x, x);
        builder.output(
            function.text() + count + " of a sum",
            builder.add(new Elementwise.Binary(function), more, by));
      }
    }
    programs.assertAgrees(
        builder.finish(), List.of(EmittedPrograms.random(new Random(4), type)), 0);
  }
}
