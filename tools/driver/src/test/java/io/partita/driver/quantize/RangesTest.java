package io.partita.driver.quantize;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.partita.frontend.onnx.quantize.Affine;
import io.partita.frontend.onnx.quantize.Product;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.Shape;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Test;

class RangesTest {
  /** Numbers around 0, and one far from them. */
  private static Histogram outlier() {
    Histogram histogram = new Histogram(-4, 40);
    Random random = new Random(3);
    for (int i = 0; i < 20_000; i++) {
      histogram.add(Math.clamp(random.nextGaussian(), -4, 4));
    }
    histogram.add(40);
    return histogram;
  }

  @Test
  void choicesWeighOutliersDifferently() {
    Histogram seen = outlier();
    Affine all = RangeChoice.MIN_MAX.code(seen, 100);
    Affine most = RangeChoice.PERCENTILE.code(seen, 99.9);
    Affine best = RangeChoice.MSE.code(seen, 100);
    assertThat(all.scale()).isEqualTo(44 / 255f);
    assertThat(most.scale()).isBetween(6 / 255f, 8 / 255f);
    assertThat(best.scale()).isBetween(most.scale(), all.scale());
    assertThat(seen.squaredError(best)).isLessThan(seen.squaredError(all));
    assertThat(seen.squaredError(best)).isLessThan(seen.squaredError(most));
  }

  @Test
  void histogramsAddUp() {
    Histogram both = new Histogram(0, 1);
    Histogram other = new Histogram(0, 1);
    both.add(0.1);
    other.add(0.9);
    both.plus(other);
    assertThat(both.quantile(0.9)).isEqualTo(0.9, within(1e-3));
    assertThat(both.quantile(0.1)).isEqualTo(0.1, within(1e-3));
  }

  @Test
  void valuesMustBeFiniteAndNotAlwaysZero() {
    Tensor bad = Tensor.floats(Shape.of(2, 2), 0, 1, Float.NaN, 0);
    assertThatThrownBy(() -> FeatureExtents.of("h", bad))
        .hasMessageContaining("P6303")
        .hasMessageContaining("value \"h\"")
        .hasMessageContaining("finite numbers on all calibration data")
        .hasMessageContaining("NaN");
    FeatureExtents none = FeatureExtents.of("h", Tensor.floats(Shape.of(2, 2), 0, 0, 0, 0));
    assertThatThrownBy(() -> none.verified("h"))
        .hasMessageContaining("P6303")
        .hasMessageContaining("only 0");
  }

  @Test
  void featuresAreMeasuredOnTheirOwn() {
    FeatureExtents one = FeatureExtents.of("h", Tensor.floats(Shape.of(2, 2), 1, -2, 3, -4));
    FeatureExtents both = one.joined(FeatureExtents.of("h", Tensor.floats(Shape.of(1, 2), 0, 5)));
    assertThat(both.low()).containsExactly(0, -4);
    assertThat(both.high()).containsExactly(3, 5);
    assertThat(both.magnitude(1)).isEqualTo(5);
    assertThat(both.divided(new double[] {2, 4}).most()).isEqualTo(1.5);
  }

  @Test
  void smoothingBalancesFeaturesAndRows() {
    Tensor matrix = Tensor.floats(Shape.of(2, 2), 1, -1, 1, 0.5f);
    Product product = new Product(0, "p", "MatMul", "h", "y", "w", matrix, false, Optional.empty());
    FeatureExtents seen = FeatureExtents.of("h", Tensor.floats(Shape.of(1, 2), 100, 1));
    double[] half = Smoothing.factors(seen, List.of(product), 0.5);
    assertThat(half[0] / half[1]).isEqualTo(10, within(1e-9));
    double[] whole = Smoothing.factors(seen, List.of(product), 1);
    assertThat(whole[0] / whole[1]).isEqualTo(100, within(1e-9));
  }
}
