package io.partita.ir.eval;

import static org.assertj.core.api.Assertions.assertThat;

import io.partita.ir.op.Structured;
import io.partita.ir.op.Structured.NormKind;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.Shape;
import org.junit.jupiter.api.Test;

class NormKernelsTest {
  @Test
  void aLayerNormHasMeanZeroAndVarianceOne() {
    Tensor x = Tensor.floats(Shape.of(2, 2), 1, 3, 10, 10);
    Tensor scale = Tensor.floats(Shape.of(2), 2, 3);
    Tensor bias = Tensor.floats(Shape.of(1), 5);
    assertThat(
            Evaluated.of(new Structured.Norm(NormKind.LAYER, 1, 0, true, true), x, scale, bias)
                .floats())
        .containsExactly(3, 8, Float.NaN, Float.NaN);
    assertThat(
            Evaluated.of(new Structured.Norm(NormKind.LAYER, 1, 3, false, true), x, bias).floats())
        .containsExactly(4.5f, 5.5f, 5, 5);
  }

  @Test
  void anRmsNormKeepsTheMean() {
    Tensor x = Tensor.floats(Shape.of(1, 2, 2), 1, 1, 1, 3);
    assertThat(Evaluated.of(new Structured.Norm(NormKind.RMS, 1, 1, false, false), x).floats())
        .containsExactly(0.5f, 0.5f, 0.5f, 1.5f);
    Tensor scale = Tensor.floats(Shape.of(2, 1), 2, 4);
    assertThat(
            Evaluated.of(new Structured.Norm(NormKind.RMS, 1, 1, true, false), x, scale).floats())
        .containsExactly(1, 1, 2, 6);
  }

  /** Squares of f32 values of 1e30 overflow an f32. */
  @Test
  void statisticsAreWider() {
    Tensor x = Tensor.floats(Shape.of(2), 1e30f, -1e30f);
    assertThat(Evaluated.of(new Structured.Norm(NormKind.LAYER, 0, 0, false, false), x).floats())
        .containsExactly(1, -1);
  }
}
