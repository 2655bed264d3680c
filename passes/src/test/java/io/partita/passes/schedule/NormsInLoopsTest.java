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
import io.partita.ir.op.Structured;
import io.partita.ir.op.Structured.NormKind;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.TensorType;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Norms are computed in the loop of what they normalise, on tiles of whole rows, which others may
 * read as well. Norms of floats are quantized here, since the reference sums in another order.
 */
class NormsInLoopsTest extends EvaluatedLoops {
  private static final String RESIDUAL = "gemm_i8_i8, cast_i32_f32, mul_f32, add_f32";

  private List<String> loops(long l1, Consumer<GraphBuilder> body) {
    return loops(SmallPrograms.of(body), l1);
  }

  /** Returns a product of bytes. */
  private Value sums(GraphBuilder graph, Value x, long columns) {
    long depth = x.type().shape().fromEnd(0).value();
    return graph.add(
        new Contraction.MatMul(ElementType.I32), x, weight(graph, ElementType.I8, depth, columns));
  }

  /** Returns the sums of an integer product as floats. */
  private Value product(GraphBuilder graph, long depth, long columns, long... rows) {
    Value x = graph.input("x", TensorType.of(ElementType.I8, with(rows, depth)));
    Value sums = sums(graph, x, columns);
    return binary(
        graph,
        BinaryFunction.MUL,
        graph.add(new Elementwise.Cast(ElementType.F32), sums),
        weight(graph, ElementType.F32, columns));
  }

  private static long[] with(long[] rows, long last) {
    long[] all = Arrays.copyOf(rows, rows.length + 1);
    all[rows.length] = last;
    return all;
  }

  private static Value binary(GraphBuilder graph, BinaryFunction function, Value x, Value y) {
    return graph.add(new Elementwise.Binary(function), x, y);
  }

  private Value residual(GraphBuilder graph, Value x) {
    Value other = graph.input("residual", x.type());
    return binary(graph, BinaryFunction.ADD, other, x);
  }

  private Value norm(GraphBuilder graph, NormKind kind, Value x, boolean scaled) {
    long size = x.type().shape().fromEnd(0).value();
    boolean biased = scaled && kind == NormKind.LAYER;
    Structured.Norm norm = new Structured.Norm(kind, x.type().rank() - 1, 1e-5, scaled, biased);
    Value scale = weight(graph, ElementType.F32, size);
    return biased
        ? graph.add(norm, x, scale, weight(graph, ElementType.F32, size))
        : scaled ? graph.add(norm, x, scale) : graph.add(norm, x);
  }

  private Value quantize(GraphBuilder graph, Value x) {
    return graph.add(
        new Quantized.Quantize(0, 0, ElementType.I8),
        x,
        weight(graph, ElementType.F32),
        weight(graph, ElementType.I8));
  }

  /** The residual is stored, and its norm is quantized, whatever the rows and the order of axes. */
  @ParameterizedTest
  @CsvSource({"1, 1, 64", "1, 3, 67", "2, 4, 64", "1, 16, 64", "2, 5, 41", "3, 1, 8", "1, 1, 1"})
  void residualsAreNormalised(long batch, long rows, long columns) {
    for (NormKind kind : NormKind.values()) {
      for (boolean scaled : new boolean[] {true, false}) {
        List<String> loops =
            loops(
                ROOM,
                graph -> {
                  Value x = residual(graph, product(graph, 24, columns, batch, rows));
                  graph.output("y", quantize(graph, norm(graph, kind, x, scaled)));
                  graph.output("x", x);
                });
        assertThat(loops).hasSize(1);
        assertThat(loops.getFirst())
            .startsWith("[gem" + (batch * rows == 1 ? "v" : "m"))
            .contains("add_f32, ", "norm", "quantize");
      }
    }
  }

  /** A value that only the norm reads is never stored. */
  @Test
  void valuesOfNormsAreInScratch() {
    assertThat(
            loops(
                ROOM,
                graph ->
                    graph.output(
                        "y",
                        quantize(
                            graph, norm(graph, NormKind.LAYER, product(graph, 32, 48, 12), true)))))
        .containsExactly("[gemm_i8_i8, cast_i32_f32, mul_f32, layer_norm_f32, quantize_f32_i8]");
  }

  /** A later reader of the residual, as that of the next residual, reads what the loop stored. */
  @Test
  void othersReadTheResidualLater() {
    List<String> loops =
        loops(
            ROOM,
            graph -> {
              Value x = residual(graph, product(graph, 24, 48, 16));
              Value levels = quantize(graph, norm(graph, NormKind.RMS, x, true));
              Value sums = sums(graph, levels, 48);
              Value next = graph.add(new Elementwise.Cast(ElementType.F32), sums);
              graph.output("y", binary(graph, BinaryFunction.ADD, x, next));
            });
    assertThat(loops)
        .containsExactly(
            "[" + RESIDUAL + ", rms_norm_f32, quantize_f32_i8]",
            "[gemm_i8_i8, cast_i32_f32, add_f32]");
  }

  /** Readers before the end of the norm would read a residual that isn't stored yet. */
  @Test
  void earlierReadersKeepTheNormApart() {
    List<String> loops =
        loops(
            ROOM,
            graph -> {
              Value x = residual(graph, product(graph, 24, 48, 16));
              Value gate = graph.add(new Elementwise.Unary(UnaryFunction.NEG), x);
              Value normalised = norm(graph, NormKind.RMS, x, true);
              graph.output(
                  "y", quantize(graph, binary(graph, BinaryFunction.MUL, normalised, gate)));
            });
    assertThat(loops)
        .containsExactly(
            "[" + RESIDUAL + "]", "[rms_norm_f32]", "[neg_f32, mul_f32, quantize_f32_i8]");
  }

  /** Functions of the normalised values stop where one also reads the residual. */
  @Test
  void aSumWithTheResidualFollowsInItsOwnLoop() {
    List<String> loops =
        loops(
            ROOM,
            graph -> {
              Value x = residual(graph, product(graph, 24, 48, 32));
              Value sum =
                  binary(graph, BinaryFunction.ADD, x, norm(graph, NormKind.LAYER, x, false));
              graph.output("y", quantize(graph, sum));
            });
    assertThat(loops)
        .containsExactly("[" + RESIDUAL + ", layer_norm_f32]", "[add_f32, quantize_f32_i8]");
  }

  /** A row that is its own scale has to be stored before the norm loads it. */
  @Test
  void rowsThatScaleThemselvesAreNormalisedApart() {
    List<String> loops =
        loops(
            ROOM,
            graph -> {
              Value x = graph.input("x", TensorType.of(ElementType.F32, 48));
              Value sum = binary(graph, BinaryFunction.ADD, x, weight(graph, ElementType.F32, 48));
              Structured.Norm norm = new Structured.Norm(NormKind.RMS, 0, 1e-5, true, false);
              graph.output("y", quantize(graph, graph.add(norm, sum, sum)));
            });
    assertThat(loops).hasSize(2);
    assertThat(loops.getFirst()).isEqualTo("[add_f32]");
  }

  /** Tiles have whole rows, so that with little memory the norm has a loop of its own. */
  @Test
  void rowsThatDoNotFitAreNormalisedApart() {
    List<String> loops =
        loops(
            50_000,
            graph -> {
              Value x = residual(graph, product(graph, 64, 4096, 4));
              graph.output("y", quantize(graph, norm(graph, NormKind.RMS, x, true)));
              graph.output("x", x);
            });
    assertThat(loops)
        .containsExactly(
            "[gemm_i8_i8]",
            "[cast_i32_f32, mul_f32, add_f32]",
            "[norm_squares_f32, rms_norm_quantize_f32_i8]");
  }

  /** Residuals of any layout, and functions of elements, are normalised in their loops, too. */
  @ParameterizedTest
  @CsvSource({"1, 60", "5, 60", "16, 60", "9, 61", "40, 8"})
  void functionsAreNormalised(long rows, long columns) {
    List<String> loops =
        loops(
            ROOM,
            graph -> {
              Value turned =
                  graph.add(
                      new Movement.Transpose(List.of(0, 2, 1, 3)),
                      graph.input("turned", TensorType.of(ElementType.F32, 1, rows, 2, columns)));
              Value vector = graph.input("vector", TensorType.of(ElementType.F32, columns));
              Value x = binary(graph, BinaryFunction.ADD, turned, vector);
              graph.output("y", quantize(graph, norm(graph, NormKind.RMS, x, true)));
              graph.output("x", x);
            });
    assertThat(loops).hasSize(1);
    assertThat(loops.getFirst()).startsWith("[add_f32, ").contains("norm").contains("quantize");
  }

  private Value requantize(GraphBuilder graph, Value x) {
    return graph.add(
        new IntegerNetwork.Requantize(4, -128, 127, ElementType.I8),
        x,
        weight(graph, ElementType.I32),
        weight(graph, ElementType.I32));
  }

  private Value integerNorm(GraphBuilder graph, NormKind kind, Value x) {
    long size = x.type().shape().fromEnd(0).value();
    IntegerNetwork.IntegerNorm norm = new IntegerNetwork.IntegerNorm(kind, 3, -128, 127);
    Value weight = weight(graph, ElementType.I32, size);
    return kind == NormKind.LAYER
        ? graph.add(norm, x, weight, weight(graph, ElementType.I32, size))
        : graph.add(norm, x, weight);
  }

  @ParameterizedTest
  @EnumSource(NormKind.class)
  void normsOfIntegersFollowProducts(NormKind kind) {
    for (long rows : new long[] {2, 3, 16}) {
      List<String> loops =
          loops(
              ROOM,
              graph -> {
                Value x = graph.input("x", TensorType.of(ElementType.I8, 1, rows, 32));
                Value sums = sums(graph, x, 44);
                Value other = graph.input("other", TensorType.of(ElementType.I32, 1, rows, 44));
                Value sum = binary(graph, BinaryFunction.ADD, sums, other);
                Value bytes = requantize(graph, sum);
                graph.output("y", integerNorm(graph, kind, bytes));
                graph.output("bytes", bytes);
              });
      assertThat(loops)
          .containsExactly(
              "["
                  + "gemm_i8_i8, add_i32, requantize_i32_i8, integer_"
                  + (kind == NormKind.LAYER ? "layer" : "rms")
                  + "_norm_i8]");
    }
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 7, 32})
  void normsOfIntegersFollowRequantizations(long rows) {
    assertThat(
            loops(
                ROOM,
                graph -> {
                  Value x = graph.input("x", TensorType.of(ElementType.I32, rows, 40));
                  Value bytes = requantize(graph, x);
                  graph.output("y", integerNorm(graph, NormKind.RMS, bytes));
                  graph.output("bytes", bytes);
                }))
        .containsExactly("[requantize_i32_i8, integer_rms_norm_i8]");
  }

  /** Between loops whose values stay near, a norm by itself is prepared while others compute. */
  @Test
  void normsOfNearValuesAreApart() {
    List<String> loops =
        loops(
            ROOM,
            graph -> {
              Value x = graph.input("x", TensorType.of(ElementType.I8, 4, 64));
              Value sums = sums(graph, x, 8);
              Value bytes = requantize(graph, sums);
              TensorType vector = TensorType.of(ElementType.I32, 8);
              Value normalised =
                  graph.add(
                      new IntegerNetwork.IntegerNorm(NormKind.RMS, 3, -128, 127),
                      bytes,
                      graph.constant(Tensor.filled(vector, 5)));
              Value next = sums(graph, normalised, 8);
              Value wide = graph.add(new Elementwise.Cast(ElementType.I32), bytes);
              graph.output("y", binary(graph, BinaryFunction.ADD, next, wide));
            });
    assertThat(loops).contains("[gemm_requantize_i8_i8_i8]", "[integer_rms_norm_i8]");
  }

  /** Random chains before and after a norm agree with the reference, in one loop or several. */
  @Test
  void randomChainsAgree() {
    Random random = new Random(5);
    int joined = 0;
    for (int i = 0; i < 60; i++) {
      long rows = random.nextInt(1, 20);
      long columns = random.nextInt(1, 70);
      boolean isRead = random.nextBoolean();
      NormKind kind = random.nextBoolean() ? NormKind.LAYER : NormKind.RMS;
      int before = random.nextInt(3);
      boolean follows = random.nextBoolean();
      boolean isProduct = random.nextBoolean();
      boolean scaled = random.nextBoolean();
      List<String> loops =
          loops(
              random.nextInt(8_000, 60_000),
              graph -> {
                Value x =
                    isProduct
                        ? product(graph, random.nextInt(1, 40), columns, rows)
                        : graph.input("x", TensorType.of(ElementType.F32, rows, columns));
                for (int step = 0; step < before; step++) {
                  x =
                      random.nextBoolean()
                          ? graph.add(new Elementwise.Unary(UnaryFunction.RELU), x)
                          : binary(
                              graph,
                              BinaryFunction.ADD,
                              x,
                              weight(graph, ElementType.F32, columns));
                }
                Value normalised = norm(graph, kind, x, scaled);
                if (follows) {
                  normalised =
                      binary(
                          graph,
                          BinaryFunction.MUL,
                          normalised,
                          weight(graph, ElementType.F32, rows, columns));
                }
                graph.output("y", quantize(graph, normalised));
                if (isRead && x.type().rank() > 0 && !x.isInput()) {
                  graph.output("x", x);
                }
              });
      joined += loops.size() == 1 && !loops.getFirst().startsWith("[" + "norm") ? 1 : 0;
    }
    assertThat(joined).isGreaterThan(20);
  }
}
