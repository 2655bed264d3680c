package io.partita.tests.recorded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.partita.driver.cases.Comparison;
import io.partita.driver.cases.PreparedModel;
import io.partita.driver.cases.Tolerance;
import io.partita.frontend.onnx.OnnxModel;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.Shape;
import java.util.Arrays;
import java.util.Map;
import java.util.OptionalDouble;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Tests a vision transformer trained on handwritten digits. */
@Tag("thorough")
class VisionModelTest {
  private static final int BATCH = 100;

  /** Emitted Java classifies all images; the evaluator takes as long for these. */
  private static final int EVALUATED = 2 * BATCH;

  private static final int SIDE = 32;
  private static final int CLASSES = 10;

  /**
   * Logits are below 20; six blocks of sums over up to 512 products, each rounding by 2^-24 of
   * partial sums of that size, differ by about 1e-4 at most.
   */
  private static final Tolerance LOGITS =
      new Tolerance(OptionalDouble.of(1e-4), OptionalDouble.of(1e-4));

  @Tag("exhaustive")
  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "JAVA")
  void classificationsOfOtherRoutesAgreeWithTheRecording(Route route) {
    classificationsAgreeWithTheRecording(route);
  }

  @ParameterizedTest
  @EnumSource(names = "JAVA")
  void classificationsAgreeWithTheRecording(Route route) {
    TrainedModel model =
        new TrainedModel(
            SharedFolder.require("models/mnist-vit", "it comes with the project's shared data"));
    new Suite(model.folder()).check(route);
    Tensor images = model.array("eval.npz", "validation");
    Tensor recorded = model.array("eval.npz", "validation_logits");
    long[] labels = model.array("eval.npz", "validation_labels").longs();
    int count = route == Route.JAVA ? labels.length : Math.min(EVALUATED, labels.length);
    OnnxModel network = OnnxModel.read(model.folder().resolve("network.onnx"));
    float[] logits = new float[count * CLASSES];
    Map<String, Tensor> shapes = Map.of("image", batch(images, 0));
    try (PreparedModel prepared = route.cases(LOGITS).prepare(network, shapes)) {
      for (int first = 0; first < count; first += BATCH) {
        float[] some = prepared.run(Map.of("image", batch(images, first))).get("logits").floats();
        System.arraycopy(some, 0, logits, first * CLASSES, some.length);
      }
    }
    Shape shape = Shape.of(count, CLASSES);
    Tensor expected = Tensor.floats(shape, Arrays.copyOf(recorded.floats(), logits.length));
    Tensor found = Tensor.floats(shape, logits);
    assertThat(Comparison.of("logits", expected, found, LOGITS).message()).isEmpty();
    if (count < labels.length) {
      return;
    }
    long right = 0;
    for (int i = 0; i < count; i++) {
      right += best(logits, i) == labels[i] ? 1 : 0;
    }
    double recordedTop1 = ((Number) model.info("validation_top1")).doubleValue();
    // The recorded rate is an f32.
    assertThat(right / (double) labels.length).isCloseTo(recordedTop1, within(1e-6));
  }

  /** Maps pixels from 0 to 255 to -1 to 1. */
  private static Tensor batch(Tensor images, int first) {
    float[] pixels = new float[BATCH * SIDE * SIDE];
    for (int i = 0; i < pixels.length; i++) {
      pixels[i] = images.getLong(first * SIDE * SIDE + i) / 255f * 2 - 1;
    }
    return Tensor.floats(Shape.of(BATCH, 1, SIDE, SIDE), pixels);
  }

  private static int best(float[] logits, int row) {
    float[] line = Arrays.copyOfRange(logits, row * CLASSES, (row + 1) * CLASSES);
    int best = 0;
    for (int i = 1; i < CLASSES; i++) {
      best = line[i] > line[best] ? i : best;
    }
    return best;
  }
}
