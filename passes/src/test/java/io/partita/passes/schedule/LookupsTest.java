package io.partita.passes.schedule;

import static org.assertj.core.api.Assertions.assertThat;

import io.partita.ir.function.BinaryFunction;
import io.partita.ir.graph.GraphBuilder;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Contraction;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.IntegerNetwork;
import io.partita.ir.op.IntegerNetwork.Lookup;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Quantized;
import io.partita.ir.op.Structured;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.TensorType;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tables of bytes are whole in the working memory, whatever the tiles of the loop. */
class LookupsTest extends EvaluatedLoops {
  private Value lookup(GraphBuilder graph, Value x, ElementType to) {
    return graph.add(new Lookup(), x, weight(graph, to, Lookup.ENTRIES));
  }

  private Value requantize(GraphBuilder graph, Value x, ElementType to, long... columns) {
    return graph.add(
        new IntegerNetwork.Requantize(9, to == ElementType.U8 ? 0 : -128, 127, to),
        x,
        weight(graph, ElementType.I32, columns),
        weight(graph, ElementType.I32));
  }

  @ParameterizedTest
  @CsvSource({"100000, gemm_requantize_i8_i8_u8", "2600, 'gemm_i8_i8, requantize_i32_u8'"})
  void followsARequantizedProduct(long l1, String product) {
    List<String> loops =
        loops(
            graph -> {
              Value x = graph.input("x", TensorType.of(ElementType.I8, 2, 5, 230));
              Value matrix = weight(graph, ElementType.I8, 230, 9);
              Value sums = graph.add(new Contraction.MatMul(ElementType.I32), x, matrix);
              Value bytes = requantize(graph, sums, ElementType.U8, 9);
              return lookup(graph, lookup(graph, bytes, ElementType.I8), ElementType.I8);
            },
            l1);
    assertThat(loops).containsExactly("[" + product + ", lookup_u8_i8, lookup_i8_i8]");
  }

  /** The factor of a gated network is multiplied with the result of a table. */
  @ParameterizedTest
  @CsvSource({"100000", "1200"})
  void beginsALoop(long l1) {
    List<String> loops =
        loops(
            graph -> {
              Value gate = graph.input("x", TensorType.of(ElementType.I8, 9, 37));
              Value active = lookup(graph, gate, ElementType.I8);
              Value wide = graph.add(new Elementwise.Cast(ElementType.I32), active);
              Value up = graph.input("up", TensorType.of(ElementType.I32, 9, 37));
              Value product = graph.add(new Elementwise.Binary(BinaryFunction.MUL), wide, up);
              return requantize(graph, product, ElementType.I8);
            },
            l1);
    assertThat(loops).containsExactly("[lookup_i8_i8, cast_i8_i32, mul_i32, requantize_i32_i8]");
  }

  @ParameterizedTest
  @CsvSource({"100000", "1200"})
  void readsViews(long l1) {
    List<String> loops =
        loops(
            graph -> {
              Value x = graph.input("x", TensorType.of(ElementType.U8, 7, 5, 11));
              Value turned = graph.add(new Movement.Transpose(List.of(1, 0, 2)), x);
              return lookup(graph, turned, ElementType.U8);
            },
            l1);
    assertThat(loops).containsExactly("[lookup_u8_u8]");
  }

  @ParameterizedTest
  @CsvSource({"100000", "4000"})
  void followsAQuantizedNorm(long l1) {
    List<String> loops =
        loops(
            graph -> {
              Value norm =
                  graph.add(
                      new Structured.Norm(Structured.NormKind.LAYER, 2, 1e-5, true, false),
                      graph.input("x", TensorType.of(ElementType.F32, 3, 9, 37)),
                      weight(graph, ElementType.F32, 37));
              Value bytes =
                  graph.add(
                      new Quantized.Quantize(0, 0, ElementType.I8),
                      norm,
                      weight(graph, ElementType.F32),
                      weight(graph, ElementType.I8));
              return lookup(graph, bytes, ElementType.I8);
            },
            l1);
    assertThat(loops).containsExactly("[layer_norm_f32, quantize_f32_i8, lookup_i8_i8]");
  }
}
