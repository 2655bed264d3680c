package io.partita.passes.schedule.legalize;

import static org.assertj.core.api.Assertions.assertThat;

import io.partita.ir.function.Combine;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Contraction;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Op;
import io.partita.ir.op.Structured;
import io.partita.ir.op.Window;
import io.partita.ir.type.Dim;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.TensorType;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Tests operations with empty operands. */
class SimplifyEmptyTest {
  private static TensorType f32(long... extents) {
    return TensorType.of(ElementType.F32, extents);
  }

  private static TensorType i64(long... extents) {
    return TensorType.of(ElementType.I64, extents);
  }

  private static Legalized of(Op op, TensorType... types) {
    return Legalized.of(
            graph -> {
              List<Value> operands = new ArrayList<>();
              for (TensorType type : types) {
                operands.add(graph.input("x" + operands.size(), type));
              }
              return graph.add(op, operands);
            })
        .agrees();
  }

  private static Movement.Pad pad(long... high) {
    List<Long> highs = Arrays.stream(high).boxed().toList();
    List<Long> lows = highs.stream().map(each -> 0L).toList();
    return new Movement.Pad(Movement.PadMode.CONSTANT, lows, highs);
  }

  private static Structured.Attention attention() {
    return new Structured.Attention(1, 0, false, Dim.ZERO, 0, false, false);
  }

  @Test
  void padsOfEmptyTensorsAreConstants() {
    assertThat(of(pad(2, 1), f32(0, 3), f32()).operations()).containsExactly("broadcast");
  }

  @Test
  void padsOfOtherTensorsStay() {
    assertThat(of(pad(2, 1), f32(1, 3), f32()).operations()).containsExactly("pad");
  }

  @Test
  void emptyProductsAreTheBias() {
    Structured.Linear linear = new Structured.Linear(false, true);
    assertThat(of(linear, f32(2, 0), f32(0, 3), f32(3)).operations()).containsExactly("broadcast");
    assertThat(of(linear, f32(2, 1), f32(1, 3), f32(3)).operations()).containsExactly("linear");
    Window window =
        new Window(
            List.of(1L, 1L), List.of(1L, 1L), List.of(1L, 1L), List.of(0L, 0L), List.of(0L, 0L));
    Op convolution = new Contraction.Convolution(window, 1, true, ElementType.F32);
    assertThat(of(convolution, f32(2, 0, 3, 5), f32(7, 0, 1, 1), f32(7)).operations())
        .containsExactly("reshape", "broadcast");
  }

  @Test
  void attentionToNoKeysIsZero() {
    assertThat(of(attention(), f32(1, 2, 3, 4), f32(1, 1, 0, 4), f32(1, 1, 0, 5)).operations())
        .doesNotContain("attention");
  }

  @Test
  void queriesWithoutFeaturesAverageValues() {
    assertThat(of(attention(), f32(1, 2, 3, 0), f32(1, 1, 4, 0), f32(1, 1, 4, 5)).operations())
        .contains("attention");
  }

  @Test
  void emptyScattersKeepTheData() {
    Op elements = new Movement.ScatterElements(0, Combine.ADD);
    assertThat(of(elements, f32(3, 2), i64(0, 2), f32(0, 2)).operations()).isEmpty();
    Op rows = new Movement.ScatterNd(Combine.REPLACE);
    assertThat(of(rows, f32(3, 2), i64(0, 1), f32(0, 2)).operations()).isEmpty();
  }

  @ParameterizedTest
  @EnumSource
  void completeUpdatesAreSequential(Combine reduction) {
    Op all = new Movement.ScatterNd(reduction);
    assertThat(of(all, f32(3, 2), i64(4, 0), f32(4, 3, 2)).operations())
        .doesNotContain("scatter_nd");
  }

  @Test
  void emptyIndexTuplesGatherAllData() {
    assertThat(of(new Movement.GatherNd(0), f32(3, 2), i64(4, 5, 0)).operations())
        .containsExactly("reshape", "broadcast");
    assertThat(of(new Movement.GatherNd(1), f32(4, 2), i64(4, 5, 0)).operations())
        .containsExactly("reshape", "broadcast");
  }
}
