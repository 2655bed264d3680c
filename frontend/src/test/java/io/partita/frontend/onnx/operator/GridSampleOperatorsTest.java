package io.partita.frontend.onnx.operator;

import static io.partita.frontend.onnx.ModelSketch.integer;
import static io.partita.frontend.onnx.ModelSketch.text;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.partita.frontend.onnx.ModelSketch;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests samples inside, at the edges and outside two images with two channels. */
class GridSampleOperatorsTest {
  private static final int HEIGHT = 3;
  private static final int WIDTH = 4;
  private static final double[][] PLACES = {
    {0, 0}, {-0.4, 0.3}, {1, 1}, {-1, -1}, {1.3, -0.2}, {-2.6, 1.9}, {0.11, -1.7}
  };

  @TempDir Path folder;

  private static Tensor images() {
    float[] data = new float[2 * 2 * HEIGHT * WIDTH];
    for (int i = 0; i < data.length; i++) {
      data[i] = (i * 7 % 11) - 4;
    }
    return Tensor.floats(Shape.of(2, 2, HEIGHT, WIDTH), data);
  }

  /** The second image is sampled at the mirrored places. */
  private static Tensor grid() {
    float[] data = new float[2 * PLACES.length * 2];
    for (int i = 0; i < data.length; i++) {
      double place = PLACES[i / 2 % PLACES.length][i % 2];
      data[i] = (float) (i / 2 < PLACES.length ? place : -place);
    }
    return Tensor.floats(Shape.of(2, 1, PLACES.length, 2), data);
  }

  private static double place(double given, int extent, boolean corners) {
    return corners ? (given + 1) / 2 * (extent - 1) : ((given + 1) * extent - 1) / 2;
  }

  /** Returns a place reflected at the edges until it is inside. */
  private static double reflected(double place, int extent, boolean corners) {
    double low = corners ? 0 : -0.5;
    double high = corners ? extent - 1 : extent - 0.5;
    double at = place;
    while (at < low || at > high) {
      at = at < low ? 2 * low - at : 2 * high - at;
    }
    return at;
  }

  private static double pixel(
      Tensor x, int plane, double row, double column, String padding, boolean corners) {
    double y = row;
    double z = column;
    if (padding.equals("reflection")) {
      y = reflected(y, HEIGHT, corners);
      z = reflected(z, WIDTH, corners);
    }
    boolean isInside = y >= 0 && y < HEIGHT && z >= 0 && z < WIDTH;
    if (padding.equals("zeros") && !isInside) {
      return 0;
    }
    int i = (int) Math.clamp(y, 0, HEIGHT - 1);
    int j = (int) Math.clamp(z, 0, WIDTH - 1);
    return x.getDouble((plane * HEIGHT + i) * WIDTH + j);
  }

  private static double bounded(double place, int extent, String padding, boolean corners) {
    double moved = padding.equals("reflection") ? reflected(place, extent, corners) : place;
    return padding.equals("zeros") ? moved : Math.clamp(moved, 0, extent - 1);
  }

  private static double weight(String mode, double distance) {
    double d = Math.abs(distance);
    double a = -0.75;
    return switch (mode) {
      case "linear" -> Math.max(0, 1 - d);
      case "cubic" ->
          d <= 1
              ? (a + 2) * d * d * d - (a + 3) * d * d + 1
              : d < 2 ? a * d * d * d - 5 * a * d * d + 8 * a * d - 4 * a : 0;
      default -> throw new AssertionError(mode);
    };
  }

  private static double expected(
      Tensor x, Tensor grid, int plane, int sample, String mode, String padding, boolean corners) {
    int at = (plane / 2 * PLACES.length + sample) * 2;
    double column = place(grid.getDouble(at), WIDTH, corners);
    double row = place(grid.getDouble(at + 1), HEIGHT, corners);
    if (!mode.equals("cubic")) {
      column = bounded(column, WIDTH, padding, corners);
      row = bounded(row, HEIGHT, padding, corners);
    }
    if (mode.equals("nearest")) {
      return pixel(x, plane, Math.rint(row), Math.rint(column), padding, corners);
    }
    double sum = 0;
    for (double i = Math.floor(row) - 1; i <= Math.floor(row) + 2; i++) {
      for (double j = Math.floor(column) - 1; j <= Math.floor(column) + 2; j++) {
        double weight = weight(mode, i - row) * weight(mode, j - column);
        sum += weight == 0 ? 0 : weight * pixel(x, plane, i, j, padding, corners);
      }
    }
    return sum;
  }

  @ParameterizedTest
  @CsvSource({
    "linear, zeros, 0",
    "linear, border, 1",
    "linear, reflection, 0",
    "linear, reflection, 1",
    "nearest, zeros, 1",
    "nearest, border, 0",
    "nearest, reflection, 0",
    "cubic, zeros, 0",
    "cubic, border, 1",
    "cubic, reflection, 0",
    "cubic, reflection, 1"
  })
  void samples(String mode, String padding, int corners) {
    Tensor x = images();
    Tensor grid = grid();
    Tensor y =
        new ModelSketch(20)
            .input("x", x.type())
            .input("grid", grid.type())
            .node(
                "",
                "GridSample",
                List.of("x", "grid"),
                "y",
                text("mode", mode),
                text("padding_mode", padding),
                integer("align_corners", corners))
            .output("y", TensorType.of(ElementType.F32, 2, 2, 1, PLACES.length))
            .run(folder, x, grid);
    for (int i = 0; i < y.size(); i++) {
      double value =
          expected(x, grid, i / PLACES.length, i % PLACES.length, mode, padding, corners == 1);
      assertThat(y.getDouble(i)).as("sample %s", i).isCloseTo(value, within(2e-5));
    }
  }
}
