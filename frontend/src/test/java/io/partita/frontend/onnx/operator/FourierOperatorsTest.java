package io.partita.frontend.onnx.operator;

import static io.partita.frontend.onnx.ModelSketch.integer;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.partita.frontend.onnx.ModelSketch;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Compares transforms with their definition, and with their inverses. */
class FourierOperatorsTest {
  private static final int BATCH = 2;
  private static final int FEATURES = 3;

  @TempDir Path folder;

  /** {@code [batch, points, features, parts]}. */
  private static Tensor signal(int points, int parts) {
    double[] data = new double[BATCH * points * FEATURES * parts];
    for (int i = 0; i < data.length; i++) {
      data[i] = Math.sin(1 + i * i % 17) + (i % 5 - 2) / 4.0;
    }
    return Tensor.ofDoubles(TensorType.of(ElementType.F64, BATCH, points, FEATURES, parts), data);
  }

  private Tensor transformed(Tensor x, long length, boolean inverse, boolean oneSided) {
    TensorType any = TensorType.of(ElementType.F64, 1);
    return new ModelSketch(20)
        .input("x", x.type())
        .initializer("length", Tensor.longs(Shape.SCALAR, length))
        .initializer("axis", Tensor.longs(Shape.SCALAR, -3))
        .node(
            "",
            "DFT",
            List.of("x", "length", "axis"),
            "y",
            integer("inverse", inverse ? 1 : 0),
            integer("onesided", oneSided ? 1 : 0))
        .output("y", any)
        .run(folder, x);
  }

  /** Returns one number of the result, where missing points are 0. */
  private static double expected(
      Tensor x, int batch, int point, int feature, int part, int length, boolean inverse) {
    int points = (int) x.shape().extent(1);
    int parts = (int) x.shape().extent(3);
    double real = 0;
    double imaginary = 0;
    for (int i = 0; i < Math.min(points, length); i++) {
      int at = ((batch * points + i) * FEATURES + feature) * parts;
      double a = x.getDouble(at);
      double b = parts == 2 ? x.getDouble(at + 1) : 0;
      double angle = (inverse ? 2 : -2) * Math.PI * i * point / length;
      real += a * Math.cos(angle) - b * Math.sin(angle);
      imaginary += a * Math.sin(angle) + b * Math.cos(angle);
    }
    return (part == 0 ? real : imaginary) / (inverse ? length : 1);
  }

  @ParameterizedTest
  @CsvSource({
    "5, 1, 5, false, false",
    "4, 2, 4, false, false",
    "5, 2, 5, true, false",
    "6, 1, 6, false, true",
    "5, 1, 5, false, true",
    "5, 2, 3, false, false",
    "3, 1, 8, false, true",
    "1, 2, 1, true, false"
  })
  void transformsFollowTheDefinition(
      int points, int parts, int length, boolean inverse, boolean oneSided) {
    Tensor x = signal(points, parts);
    Tensor y = transformed(x, length, inverse, oneSided);
    int results = oneSided ? length / 2 + 1 : length;
    assertThat(y.shape()).isEqualTo(Shape.of(BATCH, results, FEATURES, 2));
    for (int i = 0; i < y.size(); i++) {
      int part = i % 2;
      int feature = i / 2 % FEATURES;
      int point = i / 2 / FEATURES % results;
      int batch = i / 2 / FEATURES / results;
      assertThat(y.getDouble(i))
          .isCloseTo(expected(x, batch, point, feature, part, length, inverse), within(1e-12));
    }
  }

  /** Tests that half of the spectrum of a real signal gives the signal. */
  @ParameterizedTest
  @CsvSource({"6", "5", "2"})
  void inverseFromHalf(int length) {
    Tensor x = signal(length, 1);
    Tensor half = transformed(x, length, false, true);
    Tensor back = transformed(half, length, true, true);
    assertThat(back.shape()).isEqualTo(x.shape());
    for (int i = 0; i < x.size(); i++) {
      assertThat(back.getDouble(i)).isCloseTo(x.getDouble(i), within(1e-12));
    }
  }

  /** Transforms each frame, multiplied with the window. */
  @Test
  void framesOfASignal() {
    int step = 2;
    int size = 4;
    Tensor x =
        Tensor.ofDoubles(
            TensorType.of(ElementType.F64, 1, 9, 1), new double[] {1, 4, -2, 3, 0, 5, -1, 2, 7});
    double[] window = {0.5, 1, 1, 0.25};
    Tensor y =
        new ModelSketch(17)
            .input("x", x.type())
            .initializer("step", Tensor.longs(Shape.SCALAR, step))
            .initializer("window", Tensor.ofDoubles(TensorType.of(ElementType.F64, size), window))
            .node("", "STFT", List.of("x", "step", "window"), "y")
            .output("y", TensorType.of(ElementType.F64, 1, 3, 3, 2))
            .run(folder, x);
    assertThat(y.shape()).isEqualTo(Shape.of(1, 3, 3, 2));
    for (int frame = 0; frame < 3; frame++) {
      for (int point = 0; point < 3; point++) {
        double real = 0;
        double imaginary = 0;
        for (int i = 0; i < size; i++) {
          double value = x.getDouble(frame * step + i) * window[i];
          real += value * Math.cos(2 * Math.PI * i * point / size);
          imaginary -= value * Math.sin(2 * Math.PI * i * point / size);
        }
        int at = (frame * 3 + point) * 2;
        assertThat(y.getDouble(at)).isCloseTo(real, within(1e-12));
        assertThat(y.getDouble(at + 1)).isCloseTo(imaginary, within(1e-12));
      }
    }
  }
}
