package io.partita.passes.graph.raise.mask;

import static org.assertj.core.api.Assertions.assertThat;

import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.Dim;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ConstantMaskTest {
  private static final int QUERIES = 5;

  /** Whether a query sees a key. */
  private interface Visibility {
    boolean of(int query, int key);
  }

  private static Optional<MaskMeaning> meaning(ElementType element, int keys, Visibility visible) {
    double[] values = new double[QUERIES * keys];
    for (int i = 0; i < values.length; i++) {
      boolean isVisible = visible.of(i / keys, i % keys);
      boolean isFlag = element == ElementType.BOOL;
      values[i] = isFlag ? isVisible ? 1 : 0 : isVisible ? 0 : -1e9;
    }
    Tensor mask = Tensor.ofDoubles(new TensorType(element, Shape.of(1, 1, QUERIES, keys)), values);
    return ConstantMask.meaning(mask, Shape.of(2, 3, QUERIES, keys));
  }

  /** The last query is at the last key. */
  @ParameterizedTest
  @CsvSource({"F32, 5, 0", "BOOL, 5, 0", "F32, 8, 0", "F32, 5, 2", "BOOL, 8, 3", "F32, 8, 1"})
  void causalAndWindowed(ElementType element, int keys, int window) {
    int offset = keys - QUERIES;
    MaskMeaning found =
        meaning(
                element,
                keys,
                (query, key) ->
                    key <= query + offset && (window == 0 || query + offset - key < window))
            .orElseThrow();
    assertThat(found.causal()).isTrue();
    assertThat(found.offset()).isEqualTo(Dim.of(offset));
    assertThat(found.window()).isEqualTo(window);
    assertThat(found.hidden())
        .isEqualTo(element == ElementType.BOOL ? Double.NEGATIVE_INFINITY : -1e9f);
  }

  @Test
  void maskWithoutEffect() {
    for (ElementType element : new ElementType[] {ElementType.F32, ElementType.BOOL}) {
      MaskMeaning found = meaning(element, 7, (query, key) -> true).orElseThrow();
      assertThat(found.causal()).isFalse();
      assertThat(found.window()).isZero();
    }
  }

  @Test
  void otherMasksHaveNoMeaning() {
    assertThat(meaning(ElementType.F32, 5, (query, key) -> key >= query)).isEmpty();
    assertThat(meaning(ElementType.F32, 5, (query, key) -> key <= query && key != 2)).isEmpty();
    assertThat(meaning(ElementType.BOOL, 8, (query, key) -> key < 6)).isEmpty();
    assertThat(
            ConstantMask.meaning(
                Tensor.filled(TensorType.of(ElementType.F32, 1, 1, 2, 2), -3),
                Shape.of(1, 1, 2, 2)))
        .as("a bias")
        .isEmpty();
  }
}
