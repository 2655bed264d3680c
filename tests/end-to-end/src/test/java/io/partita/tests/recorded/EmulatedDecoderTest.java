package io.partita.tests.recorded;

import static org.assertj.core.api.Assertions.assertThat;

import io.partita.driver.Target;
import io.partita.ir.tensor.Tensor;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Compares decoders on an emulated Tenstorrent chip with Java. */
@Tag("thorough")
class EmulatedDecoderTest {
  private static final int CAPACITY = 64;

  /**
   * Both get the recorded text, so that each token is a comparison of its own. The matrix engine
   * takes 10 bits of the mantissa of each factor, so logits differ by about 2^-10 of the largest
   * ones: their correlation is far above the 0.99 that is usual for whole models.
   */
  @ParameterizedTest
  @CsvSource("tiny-shakespeare, 48, 0.9999")
  void logitsAgreeWithJava(String name, int tokens, double correlation) {
    TrainedModel model = TrainedModel.named(name);
    long[] text = model.array("greedy.npz", "tokens").longs();
    Correlation found = new Correlation();
    try (CachedDecoder java =
            CachedDecoder.stateful(model.network("decode"), CAPACITY, Target.JAVA);
        CachedDecoder chip =
            CachedDecoder.stateful(model.network("decode"), CAPACITY, Target.N150)) {
      for (int position = 0; position < tokens; position++) {
        Tensor expected = java.next(text[position], position);
        Tensor logits = chip.next(text[position], position);
        for (int i = 0; i < expected.size(); i++) {
          found.add(expected.getDouble(i), logits.getDouble(i));
        }
      }
    }
    assertThat(found.value()).isGreaterThan(correlation).isLessThanOrEqualTo(1 + 1e-12);
  }

  @Tag("exhaustive")
  @ParameterizedTest
  @CsvSource("shakespeare-opt, 24, 0.9999")
  void logitsOfAnotherModelAgreeWithJava(String name, int tokens, double correlation) {
    logitsAgreeWithJava(name, tokens, correlation);
  }

  /** Pearson's correlation coefficient. */
  private static final class Correlation {
    private double count;
    private double sumX;
    private double sumY;
    private double squareX;
    private double squareY;
    private double product;

    void add(double x, double y) {
      count++;
      sumX += x;
      sumY += y;
      squareX += x * x;
      squareY += y * y;
      product += x * y;
    }

    double value() {
      return (count * product - sumX * sumY)
          / Math.sqrt((count * squareX - sumX * sumX) * (count * squareY - sumY * sumY));
    }
  }
}
