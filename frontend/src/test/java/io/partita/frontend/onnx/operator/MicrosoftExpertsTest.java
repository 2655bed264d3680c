package io.partita.frontend.onnx.operator;

import static io.partita.frontend.onnx.ModelSketch.integer;
import static io.partita.frontend.onnx.ModelSketch.number;
import static io.partita.frontend.onnx.ModelSketch.text;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import ai.onnx.proto.OnnxMl.AttributeProto;
import io.partita.frontend.onnx.ModelSketch;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests three experts of one hidden feature against hand-computed results. */
class MicrosoftExpertsTest {
  private static final String DOMAIN = OperatorRegistry.MICROSOFT;
  private static final double[] SCORES = {0.1, 2, 1, 3, -1, 0.5};
  private static final double[] TOKENS = {2, -1};

  @TempDir Path folder;

  /** Expert e multiplies by e + 1, then by 10. */
  private static ModelSketch sketch(AttributeProto... attributes) {
    return inputs()
        .initializer("up", Tensor.floats(Shape.of(3, 1, 1), 1, 2, 3))
        .initializer("down", Tensor.floats(Shape.of(3, 1, 1), 10, 10, 10))
        .node(DOMAIN, "MoE", List.of("x", "scores", "up", "", "down"), "y", attributes)
        .output("y", TensorType.of(ElementType.F32, 2, 1, 1));
  }

  private static ModelSketch inputs() {
    return new ModelSketch(17)
        .importing(DOMAIN)
        .input("x", TensorType.of(ElementType.F32, 2, 1, 1))
        .input("scores", TensorType.of(ElementType.F32, 2, 3));
  }

  private void assertRows(ModelSketch sketch, double... expected) {
    Tensor y =
        sketch.run(
            folder,
            Tensor.ofDoubles(TensorType.of(ElementType.F32, 2, 1, 1), TOKENS),
            Tensor.ofDoubles(TensorType.of(ElementType.F32, 2, 3), SCORES));
    assertThat(y.shape()).isEqualTo(Shape.of(2, 1, 1));
    for (int i = 0; i < expected.length; i++) {
      assertThat(y.getDouble(i)).isCloseTo(expected[i], within(1e-4));
    }
  }

  /** A token's weight for an expert: among all experts, or among those with the given numbers. */
  private static double weight(int token, int expert, int... among) {
    double sum = 0;
    for (int other : among) {
      sum += Math.exp(SCORES[3 * token + other]);
    }
    return Math.exp(SCORES[3 * token + expert]) / sum;
  }

  @Test
  void tokensSumTheirExperts() {
    assertRows(
        sketch(integer("k", 2), text("activation_type", "identity")),
        10 * 2 * (2 * weight(0, 1, 0, 1, 2) + 3 * weight(0, 2, 0, 1, 2)),
        10 * -1 * (1 * weight(1, 0, 0, 1, 2) + 3 * weight(1, 2, 0, 1, 2)));
  }

  @Test
  void weightsOfSelectedExpertsAreNormalised() {
    assertRows(
        sketch(
            integer("k", 2),
            text("activation_type", "identity"),
            integer("normalize_routing_weights", 1)),
        10 * 2 * (2 * weight(0, 1, 1, 2) + 3 * weight(0, 2, 1, 2)),
        10 * -1 * (1 * weight(1, 0, 0, 2) + 3 * weight(1, 2, 0, 2)));
  }

  private static double gated(double gate, double linear) {
    double g = Math.min(gate, 4);
    return g / (1 + Math.exp(-1.5 * g)) * (Math.clamp(linear, -4, 4) + 1);
  }

  /** Rows of gate and linear part alternate in the first weight; each has a bias. */
  @Test
  void gatedExpertsWithInterleavedRows() {
    ModelSketch sketch =
        inputs()
            .initializer("up", Tensor.floats(Shape.of(3, 2, 1), 0, 0, 1, -3, 2, 1))
            .initializer("up_bias", Tensor.floats(Shape.of(3, 2), 9, 9, 0.5f, 0, -1, 1))
            .initializer("down", Tensor.floats(Shape.of(3, 1, 1), 9, 1, 2))
            .initializer("down_bias", Tensor.floats(Shape.of(3, 1), 9, 7, -3))
            .node(
                DOMAIN,
                "MoE",
                List.of("x", "scores", "up", "up_bias", "down", "down_bias"),
                "y",
                text("activation_type", "swiglu"),
                integer("swiglu_fusion", 1),
                number("swiglu_limit", 4),
                number("activation_alpha", 1.5),
                number("activation_beta", 1),
                integer("normalize_routing_weights", 1),
                integer("k", 2))
            .output("y", TensorType.of(ElementType.F32, 2, 1, 1));
    double first = gated(2 + 0.5, -6) + 7;
    double second = 2 * gated(4 - 1, 2 + 1) - 3;
    assertRows(sketch, weight(0, 1, 1, 2) * first + weight(0, 2, 1, 2) * second);
  }

  /** Weights of 4 bits, two per byte, with a zero point per expert; the default zero point is 8. */
  @Test
  void quantizedExperts() {
    ModelSketch sketch =
        inputs()
            .initializer("up", bytes(Shape.of(3, 2, 1), 0x09, 0x0a, 0x0b, 0x0c, 0x0d, 0x0e))
            .node("", "Concat", List.of("x", "x"), "both", integer("axis", 2))
            .initializer("up_scales", Tensor.floats(Shape.of(3, 2), 1, 1, 1, 1, 1, 1))
            .initializer("down", bytes(Shape.of(3, 2, 1), 0x79, 0x78, 0x88, 0x99, 0xa9, 0x70))
            .initializer("down_scales", Tensor.floats(Shape.of(3, 2), 1, 1, 2, 2, 0.5f, 0.5f))
            .initializer("up_zeros", bytes(Shape.of(3, 1), 0x00, 0x21, 0x12))
            .node(
                DOMAIN,
                "QMoE",
                List.of(
                    "both",
                    "scores",
                    "up",
                    "up_scales",
                    "",
                    "down",
                    "down_scales",
                    "",
                    "",
                    "",
                    "",
                    "up_zeros"),
                "y",
                integer("k", 1))
            .output("y", TensorType.of(ElementType.F32, 2, 1, 2));
    // Token 0 takes expert 1: rows {0xb, 0} - 1 and {0xc, 0} - 2 of x = 2, then 0x88 and 0x99.
    double first = 2 * (10 - 1);
    double second = 2 * (10 - 2);
    Tensor y =
        sketch.run(
            folder,
            Tensor.ofDoubles(TensorType.of(ElementType.F32, 2, 1, 1), TOKENS),
            Tensor.ofDoubles(TensorType.of(ElementType.F32, 2, 3), SCORES));
    assertThat(y.getDouble(0)).isCloseTo(0, within(1e-4));
    assertThat(y.getDouble(1)).isCloseTo(2 * (first + second), within(1e-4));
  }

  private static Tensor bytes(Shape shape, long... values) {
    return Tensor.ofLongs(new TensorType(ElementType.U8, shape), values);
  }

  @Test
  void theSparseMixerIsRefused() {
    assertThatThrownBy(() -> sketch(integer("use_sparse_mixer", 1)).imported(folder))
        .hasMessageContaining("P2003")
        .hasMessageContaining("the sparse mixer")
        .hasMessageContaining("export the routing as separate nodes");
  }
}
