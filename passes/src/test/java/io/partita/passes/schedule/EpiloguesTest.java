package io.partita.passes.schedule;

import static org.assertj.core.api.Assertions.assertThat;

import io.partita.ir.function.BinaryFunction;
import io.partita.ir.function.UnaryFunction;
import io.partita.ir.graph.GraphBuilder;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Contraction;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.IntegerNetwork;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Quantized;
import io.partita.ir.op.Reduction;
import io.partita.ir.op.Structured;
import io.partita.ir.op.Window;
import io.partita.ir.program.Program;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;
import java.util.List;
import java.util.function.Function;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Activations, residuals and gates are computed as epilogues of products, on finished tiles, with
 * the same bits as separate loops.
 */
class EpiloguesTest extends EvaluatedLoops {
  private Value linear(GraphBuilder graph, Value x, long columns) {
    long depth = x.type().shape().fromEnd(0).value();
    return graph.add(
        new Structured.Linear(false, true),
        x,
        weight(graph, ElementType.F32, depth, columns),
        weight(graph, ElementType.F32, columns));
  }

  private static Value input(GraphBuilder graph, String name, long... extents) {
    return graph.input(name, TensorType.of(ElementType.F32, extents));
  }

  private static Value binary(GraphBuilder graph, BinaryFunction function, Value x, Value y) {
    return graph.add(new Elementwise.Binary(function), x, y);
  }

  private static Value unary(GraphBuilder graph, UnaryFunction function, Value x) {
    return graph.add(new Elementwise.Unary(function), x);
  }

  /** Tests all tiles of one block, also with tiled depth. */
  @ParameterizedTest
  @CsvSource({"1, 100000", "2, 100000", "1, 50000", "2, 80000"})
  void activationAndResidual(long batch, long l1) {
    List<String> loops =
        loops(
            graph -> {
              Value residual = input(graph, "residual", batch, 65, 67);
              Value sums = linear(graph, input(graph, "x", batch, 65, 43), 67);
              Value active = unary(graph, UnaryFunction.GELU, sums);
              return binary(graph, BinaryFunction.ADD, residual, active);
            },
            l1);
    assertThat(loops).containsExactly("[gemm_f32, gelu_f32, add_f32]");
  }

  /** The sums may be either operand. */
  @ParameterizedTest
  @EnumSource(
      value = BinaryFunction.class,
      names = {"ADD", "SUB", "MUL", "DIV", "MAX"})
  void binaryFunctions(BinaryFunction function) {
    for (boolean isLeft : new boolean[] {true, false}) {
      List<String> loops =
          loops(
              graph -> {
                Value other = input(graph, "other", 65, 67);
                Value sums = linear(graph, input(graph, "x", 65, 43), 67);
                return isLeft
                    ? binary(graph, function, sums, other)
                    : binary(graph, function, other, sums);
              },
              70_000);
      assertThat(loops).containsExactly("[gemm_f32, " + function.text() + "_f32]");
    }
  }

  @ParameterizedTest
  @EnumSource(
      value = UnaryFunction.class,
      names = {"RELU", "GELU", "GELU_TANH", "SILU", "TANH", "SIGMOID", "HARD_SWISH"})
  void activations(UnaryFunction function) {
    List<String> loops =
        loops(graph -> unary(graph, function, linear(graph, input(graph, "x", 1, 43), 67)), 50_000);
    assertThat(loops).containsExactly("[gemv_f32, " + function.text() + "_f32]");
  }

  /** Tests residuals that broadcast or are views. */
  @ParameterizedTest
  @CsvSource({"100000", "20000"})
  void broadcastAndTransposedResiduals(long l1) {
    for (long[] shape : new long[][] {{2, 3, 25, 37}, {3, 1, 37}, {25, 1}, {2, 1, 1, 37}, {}}) {
      assertThat(
              loops(
                  graph ->
                      binary(
                          graph,
                          BinaryFunction.ADD,
                          linear(graph, input(graph, "x", 2, 3, 25, 6), 37),
                          input(graph, "residual", shape)),
                  l1))
          .containsExactly("[gemm_f32, add_f32]");
    }
    List<String> transposed =
        loops(
            graph -> {
              Value view =
                  graph.add(
                      new Movement.Transpose(List.of(0, 2, 1, 3)),
                      input(graph, "residual", 2, 25, 3, 37));
              Value sums = linear(graph, input(graph, "x", 2, 3, 25, 6), 37);
              return binary(graph, BinaryFunction.ADD, sums, view);
            },
            l1);
    assertThat(transposed).contains("[gemm_f32, add_f32]");
  }

  /** Tests that the network of a decoder block has three loops. */
  @Test
  void aGateIsAnEpilogueOfTheLaterProduct() {
    List<String> loops =
        loops(
            graph -> {
              Value x = input(graph, "x", 1, 3, 16);
              Value gate = unary(graph, UnaryFunction.SILU, linear(graph, x, 20));
              Value hidden = binary(graph, BinaryFunction.MUL, gate, linear(graph, x, 20));
              return binary(graph, BinaryFunction.ADD, x, linear(graph, hidden, 16));
            },
            ROOM);
    assertThat(loops)
        .containsExactly("[gemm_f32, silu_f32]", "[gemm_f32, mul_f32]", "[gemm_f32, add_f32]");
  }

  /** Tests that kernels with many small tiles are not fused, but those after them may be. */
  @ParameterizedTest
  @CsvSource({"600", "900"})
  void slowerFusionsAreAvoided(long l1) {
    List<String> loops =
        loops(
            graph -> {
              Value x = input(graph, "x", 2, 5, 23);
              Value active = unary(graph, UnaryFunction.GELU, linear(graph, x, 23));
              return binary(graph, BinaryFunction.ADD, x, active);
            },
            l1);
    assertThat(loops).containsExactly("[gemm_f32]", "[gelu_f32, add_f32]");
  }

  @Test
  void productsHaveAtMostEightEpilogues() {
    List<String> loops =
        loops(
            graph -> {
              Value last = linear(graph, input(graph, "x", 3, 5), 7);
              for (int i = 0; i < 5; i++) {
                last = unary(graph, UnaryFunction.RELU, last);
                last = binary(graph, BinaryFunction.SUB, last, weight(graph, ElementType.F32, 7));
              }
              return last;
            },
            ROOM);
    assertThat(loops)
        .containsExactly(
            "[gemm_f32, relu_f32, sub_f32, relu_f32, sub_f32, relu_f32, sub_f32, relu_f32,"
                + " sub_f32]",
            "[relu_f32, sub_f32]");
  }

  @Test
  void aSelectionOfTheLargestFollowsInItsOwnLoop() {
    assertThat(
            loops(
                graph -> {
                  Value x = unary(graph, UnaryFunction.NEG, input(graph, "x", 17));
                  return graph
                      .addNode(new Reduction.TopK(14, 0, true), List.of(x))
                      .results()
                      .getFirst();
                },
                ROOM))
        .containsExactly("[neg_f32]", "[top_k_f32]");
  }

  @Test
  void deadResidualsAreOverwritten() {
    Program program =
        SmallPrograms.of(
            graph -> {
              Value x = unary(graph, UnaryFunction.NEG, input(graph, "x", 80, 80));
              Value sums = linear(graph, x, 80);
              graph.output("y", binary(graph, BinaryFunction.ADD, x, sums));
            });
    assertThat(loops(program, 70_000)).contains("[gemm_f32, add_f32]");
  }

  @Test
  void sumsWithTwoUsersAreKept() {
    assertThat(
            loops(
                graph -> {
                  Value sums = linear(graph, input(graph, "x", 3, 5), 7);
                  return binary(
                      graph, BinaryFunction.ADD, unary(graph, UnaryFunction.TANH, sums), sums);
                },
                ROOM))
        .containsExactly("[gemm_f32]", "[tanh_f32, add_f32]");
    assertThat(
            loops(
                graph -> {
                  Value sums = linear(graph, input(graph, "x", 3, 5), 7);
                  return binary(graph, BinaryFunction.MUL, sums, sums);
                },
                ROOM))
        .containsExactly("[gemm_f32]", "[mul_f32]");
  }

  @Test
  void sumsThatAreAnOutputAreKept() {
    Program program =
        SmallPrograms.of(
            graph -> {
              Value sums = linear(graph, input(graph, "x", 3, 5), 7);
              graph.output("sums", sums);
              graph.output("y", unary(graph, UnaryFunction.RELU, sums));
            });
    assertThat(loops(program, ROOM)).containsExactly("[gemm_f32]", "[relu_f32]");
  }

  @Test
  void sumsThatBroadcastAreKept() {
    assertThat(
            loops(
                graph ->
                    binary(
                        graph,
                        BinaryFunction.ADD,
                        linear(graph, input(graph, "x", 1, 5), 7),
                        input(graph, "other", 3, 7)),
                ROOM))
        .containsExactly("[gemv_f32]", "[add_f32]");
  }

  @Test
  void integersFollowRequantization() {
    List<String> loops =
        loops(
            graph -> {
              Value x = graph.input("x", TensorType.of(ElementType.I8, 2, 5, 23));
              Value sums =
                  graph.add(
                      new Contraction.MatMul(ElementType.I32),
                      x,
                      weight(graph, ElementType.I8, 23, 9));
              Value bytes =
                  graph.add(
                      new IntegerNetwork.Requantize(9, -128, 127, ElementType.I8),
                      sums,
                      weight(graph, ElementType.I32, 9),
                      weight(graph, ElementType.I32));
              Value other = graph.input("other", TensorType.of(ElementType.I8, 2, 5, 9));
              return binary(
                  graph, BinaryFunction.ADD, unary(graph, UnaryFunction.RELU, bytes), other);
            },
            ROOM);
    assertThat(loops).containsExactly("[gemm_requantize_i8_i8_i8, relu_i8, add_i8]");
  }

  @ParameterizedTest
  @CsvSource({"100000", "70000"})
  void convolutionsHaveEpilogues(long l1) {
    List<String> loops =
        loops(
            graph -> {
              Window window =
                  new Window(List.of(3L), List.of(1L), List.of(1L), List.of(1L), List.of(1L));
              Value sums =
                  graph.add(
                      new Contraction.Convolution(window, 1, false, ElementType.F32),
                      input(graph, "x", 2, 5, 223),
                      weight(graph, ElementType.F32, 40, 5, 3));
              Value active = unary(graph, UnaryFunction.RELU, sums);
              return binary(
                  graph, BinaryFunction.ADD, active, input(graph, "residual", 2, 40, 223));
            },
            l1);
    assertThat(loops).containsExactly("[convolution_f32, relu_f32, add_f32]");
  }

  /** Uses an input, since small constants would be copied first. */
  private Value scalar(GraphBuilder graph) {
    return weight(graph, ElementType.I32);
  }

  private Value requantize(GraphBuilder graph, Value x, ElementType to) {
    return graph.add(
        new IntegerNetwork.Requantize(4, -128, 127, to), x, scalar(graph), scalar(graph));
  }

  private static Value integers(GraphBuilder graph, ElementType element, long... extents) {
    return graph.input("x", TensorType.of(element, extents));
  }

  /** A hard swish of integers is one loop, although its first value is read twice. */
  @ParameterizedTest
  @CsvSource({"100000", "700"})
  void integerFunctionsAreOneLoop(long l1) {
    assertThat(
            loops(
                graph -> {
                  Value x = integers(graph, ElementType.I32, 9, 37);
                  Value sum = binary(graph, BinaryFunction.ADD, x, scalar(graph));
                  Value least = binary(graph, BinaryFunction.MAX, sum, scalar(graph));
                  Value most = binary(graph, BinaryFunction.MIN, least, scalar(graph));
                  Value product = binary(graph, BinaryFunction.MUL, most, x);
                  return requantize(graph, product, ElementType.I8);
                },
                l1))
        .containsExactly("[add_i32, max_i32, min_i32, mul_i32, requantize_i32_i8]");
  }

  /** Values of another width than the result are in scratch memory. */
  @ParameterizedTest
  @CsvSource({"100000", "700"})
  void functionsMayChangeTheWidth(long l1) {
    assertThat(
            loops(
                graph -> {
                  Value x = integers(graph, ElementType.I8, 9, 37);
                  Value wide = requantize(graph, x, ElementType.I32);
                  Value row = weight(graph, ElementType.I32, 37);
                  Value sum = binary(graph, BinaryFunction.ADD, row, wide);
                  return requantize(graph, sum, ElementType.U8);
                },
                l1))
        .containsExactly("[requantize_i8_i32, add_i32, requantize_i32_u8]");
  }

  @ParameterizedTest
  @CsvSource({"100000", "4000"})
  void normsAndSoftmaxesOfIntegersHaveEpilogues(long l1) {
    assertThat(
            loops(
                graph -> {
                  Value x = integers(graph, ElementType.I8, 3, 9, 37);
                  Value gain = weight(graph, ElementType.I32, 37);
                  Value norm =
                      graph.add(
                          new IntegerNetwork.IntegerNorm(Structured.NormKind.RMS, 2, -128, 127),
                          x,
                          gain);
                  Value wide = requantize(graph, norm, ElementType.I32);
                  Value column = weight(graph, ElementType.I32, 9, 1);
                  Value sum = binary(graph, BinaryFunction.SUB, column, wide);
                  return requantize(graph, sum, ElementType.I8);
                },
                l1))
        .containsExactly("[integer_rms_norm_i8, requantize_i8_i32, sub_i32, requantize_i32_i8]");
    assertThat(
            loops(
                graph ->
                    requantize(
                        graph,
                        graph.add(
                            new IntegerNetwork.IntegerSoftmax(1, 86, 3888, 64, 256),
                            integers(graph, ElementType.I8, 3, 9, 37)),
                        ElementType.I8),
                l1))
        .containsExactly("[softmax_weights_i32, weighted_softmax_i8, requantize_i8_i8]");
  }

  private Value quantize(GraphBuilder graph, Value x, long... scales) {
    return graph.add(
        new Quantized.Quantize(1, 0, ElementType.I8),
        x,
        weight(graph, ElementType.F32, scales),
        weight(graph, ElementType.I8, scales));
  }

  /** Floats become bytes in the loop that computes them, if they have one scale. */
  @ParameterizedTest
  @CsvSource({"100000", "4000"})
  void floatsAreQuantizedInTheirLoop(long l1) {
    Function<GraphBuilder, Value> norm =
        graph ->
            graph.add(
                new Structured.Norm(Structured.NormKind.LAYER, 2, 1e-5, true, false),
                input(graph, "x", 3, 9, 37),
                weight(graph, ElementType.F32, 37));
    Function<GraphBuilder, Value> sum =
        graph ->
            binary(
                graph, BinaryFunction.ADD, weight(graph, ElementType.F32, 9, 1), norm.apply(graph));
    assertThat(loops(graph -> quantize(graph, sum.apply(graph)), l1))
        .containsExactly("[layer_norm_f32, add_f32, quantize_f32_i8]");
    assertThat(loops(graph -> quantize(graph, norm.apply(graph), 9), l1))
        .containsExactly("[layer_norm_f32]", "[quantize_f32_i8]");
  }

  /**
   * So do heads that are rotated, whatever their positions in memory; other functions stay apart.
   */
  @ParameterizedTest
  @CsvSource({"false, 100000", "true, 100000", "false, 3000"})
  void rotatedHeadsAreQuantizedInTheirLoop(boolean interleaved, long l1) {
    Function<GraphBuilder, Value> rotated =
        graph -> {
          Value heads =
              graph.add(
                  new Movement.Transpose(List.of(0, 2, 1, 3)), input(graph, "x", 2, 9, 3, 16));
          return graph.add(
              new Structured.RotaryEmbedding(interleaved),
              heads,
              weight(graph, ElementType.F32, 1, 9, 8),
              weight(graph, ElementType.F32, 1, 9, 8));
        };
    String kernel = interleaved ? "rotary_interleaved_f32" : "rotary_half_f32";
    assertThat(loops(graph -> quantize(graph, rotated.apply(graph)), l1))
        .containsExactly("[" + kernel + ", quantize_f32_i8]");
    assertThat(loops(graph -> quantize(graph, rotated.apply(graph), 3), l1))
        .containsExactly("[" + kernel + "]", "[quantize_f32_i8]");
  }

  /** Floats are quantized in the loop that computes them also if they become heads before. */
  @Test
  void reshapedFloatsAreQuantizedInTheirLoop() {
    assertThat(
            loops(
                graph -> {
                  Value active = unary(graph, UnaryFunction.GELU, input(graph, "x", 9, 32));
                  Value heads = graph.add(new Movement.Reshape(Shape.of(9, 4, 8)), active);
                  return quantize(graph, heads);
                },
                ROOM))
        .containsExactly("[gelu_f32, quantize_f32_i8]");
  }

  /** A sum of two chains belongs to the product, and a sum of two others to the earlier one. */
  @Test
  void sumsOfChainsBelongToProducts() {
    assertThat(
            loops(
                graph -> {
                  Value x = integers(graph, ElementType.I8, 1, 16);
                  Value residual = requantize(graph, x, ElementType.I32);
                  Value sums =
                      graph.add(
                          new Contraction.MatMul(ElementType.I32),
                          x,
                          weight(graph, ElementType.I8, 16, 16));
                  Value wide = requantize(graph, sums, ElementType.I32);
                  Value sum = binary(graph, BinaryFunction.ADD, residual, wide);
                  return requantize(graph, sum, ElementType.I8);
                },
                ROOM))
        .containsExactly(
            "[requantize_i8_i32]", "[gemv_requantize_i8_i8_i32, add_i32, requantize_i32_i8]");
    assertThat(
            loops(
                graph -> {
                  Value x = integers(graph, ElementType.I32, 5, 16);
                  Value one = requantize(graph, x, ElementType.I32);
                  Value other = binary(graph, BinaryFunction.MUL, x, scalar(graph));
                  return binary(graph, BinaryFunction.MAX, one, other);
                },
                ROOM))
        .containsExactly("[mul_i32]", "[requantize_i32_i32, max_i32]");
  }
}
