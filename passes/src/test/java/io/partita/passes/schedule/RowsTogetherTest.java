package io.partita.passes.schedule;

import static org.assertj.core.api.Assertions.assertThat;

import io.partita.ir.graph.Value;
import io.partita.ir.op.Quantized;
import io.partita.ir.op.Structured;
import io.partita.ir.op.Structured.NormKind;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.TensorType;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Cores sum a few long rows together where that is predicted to be faster. Results are quantized,
 * since the reference sums in another order.
 */
class RowsTogetherTest extends EvaluatedLoops {
  private static final String SQUARES = "norm_squares_f32, norm_by_sums_f32, quantize_f32_i8";

  private static final String QUANTIZED = "norm_squares_f32, rms_norm_quantize_f32_i8";

  private List<String> loops(NormKind kind, int rows, int size, long l1) {
    return loops(kind, rows, size, l1, true);
  }

  private List<String> loops(NormKind kind, int rows, int size, long l1, boolean scaled) {
    boolean isLayer = kind == NormKind.LAYER;
    return loops(
        graph -> {
          Value x = graph.input("x", TensorType.of(ElementType.F32, 1, rows, size));
          Value scale = weight(graph, ElementType.F32, size);
          Structured.Norm norm = new Structured.Norm(kind, 2, 1e-5, scaled, isLayer);
          Value result =
              isLayer
                  ? graph.add(norm, x, scale, weight(graph, ElementType.F32, size))
                  : scaled ? graph.add(norm, x, scale) : graph.add(norm, x);
          return graph.add(
              new Quantized.Quantize(0, 0, ElementType.I8),
              result,
              weight(graph, ElementType.F32),
              weight(graph, ElementType.I8));
        },
        l1);
  }

  @ParameterizedTest
  @CsvSource({"1, 512, 100000", "1, 515, 100000", "1, 2048, 100000", "1, 1021, 100000"})
  void sumALongRow(int rows, int size, long l1) {
    assertThat(loops(NormKind.RMS, rows, size, l1)).containsExactly("[" + QUANTIZED + "]");
    assertThat(loops(NormKind.LAYER, rows, size, l1))
        .containsExactly("[norm_sums_f32, " + SQUARES + "]");
  }

  /** Only norms with a scale are computed with their levels. */
  @Test
  void normsWithoutScaleHaveACall() {
    assertThat(loops(NormKind.RMS, 1, 512, 100_000, false)).containsExactly("[" + SQUARES + "]");
  }

  /** Rows for all cores are summed by one core each, and short ones by each, except for levels. */
  @ParameterizedTest
  @CsvSource({"8, 512", "19, 512", "1, 24"})
  void otherRowsHaveOneCall(int rows, int size) {
    assertThat(loops(NormKind.LAYER, rows, size, 100_000))
        .containsExactly("[layer_norm_f32, quantize_f32_i8]");
    assertThat(loops(NormKind.RMS, rows, size, 100_000))
        .containsExactly(rows == 1 ? "[" + QUANTIZED + "]" : "[rms_norm_f32, quantize_f32_i8]");
  }
}
