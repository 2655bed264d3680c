package io.partita.frontend.onnx.operator;

import static io.partita.frontend.onnx.ModelSketch.integer;
import static io.partita.frontend.onnx.ModelSketch.number;
import static io.partita.frontend.onnx.ModelSketch.text;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import ai.onnx.proto.OnnxMl.AttributeProto;
import io.partita.frontend.onnx.ModelSketch;
import io.partita.ir.graph.Node;
import io.partita.ir.op.Movement;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Expected numbers are those of ONNX Runtime 1.23. */
class ResizeOperatorsTest {
  @TempDir Path folder;

  private static ModelSketch bySizes(long from, long to, AttributeProto... attributes) {
    return new ModelSketch(19)
        .input("x", TensorType.of(ElementType.F32, 1, 1, from))
        .initializer("sizes", Tensor.longs(Shape.of(3), 1, 1, to))
        .node("", "Resize", List.of("x", "", "", "sizes"), "y", attributes)
        .output("y", TensorType.of(ElementType.F32, 1, 1, to));
  }

  private float[] resized(long to, AttributeProto... attributes) {
    Tensor x = Tensor.floats(Shape.of(1, 1, 4), 1, 2, 4, 8);
    return bySizes(4, to, attributes).run(folder, x).floats();
  }

  private static void assertNear(float[] found, double... expected) {
    assertThat(found).hasSameSizeAs(expected);
    for (int i = 0; i < expected.length; i++) {
      assertThat((double) found[i]).isCloseTo(expected[i], within(1e-5));
    }
  }

  @Test
  void nearestElement() {
    assertNear(resized(8), 1, 1, 2, 2, 4, 4, 8, 8);
    assertNear(resized(2), 1, 4);
    assertNear(resized(2, text("nearest_mode", "ceil")), 2, 8);
    assertNear(resized(2, text("nearest_mode", "round_prefer_ceil")), 2, 8);
    assertNear(resized(3, text("coordinate_transformation_mode", "align_corners")), 1, 2, 8);
    assertNear(resized(0));
  }

  @Test
  void wholeRepetitionsAreBroadcasts() {
    assertThat(bySizes(4, 8).imported(folder).nodes().stream().map(Node::op))
        .anyMatch(Movement.Broadcast.class::isInstance)
        .noneMatch(Movement.Gather.class::isInstance);
  }

  @Test
  void linearInterpolation() {
    AttributeProto linear = text("mode", "linear");
    assertNear(resized(6, linear), 1, 1.5, 2.333333, 3.666667, 6, 8);
    assertNear(
        resized(5, linear, text("coordinate_transformation_mode", "align_corners")),
        1,
        1.75,
        3,
        5,
        8);
    assertNear(resized(1, linear, text("coordinate_transformation_mode", "pytorch_half_pixel")), 1);
    assertNear(resized(2, linear, integer("antialias", 1)), 1.75, 5.75);
  }

  @Test
  void cubicInterpolation() {
    AttributeProto cubic = text("mode", "cubic");
    assertNear(resized(4, cubic), 1, 2, 4, 8);
    assertNear(
        resized(8, cubic),
        0.894531,
        1.15625,
        1.5625,
        2.417969,
        3.160156,
        5.117188,
        7.164062,
        8.421875);
  }

  @Test
  void cropsExtrapolate() {
    ModelSketch sketch =
        new ModelSketch(19)
            .input("x", TensorType.of(ElementType.F32, 1, 4))
            .initializer("roi", Tensor.floats(Shape.of(2), 0.5f, 1.5f))
            .initializer("sizes", Tensor.longs(Shape.of(1), 3))
            .node(
                "",
                "Resize",
                List.of("x", "roi", "", "sizes"),
                "y",
                text("mode", "linear"),
                text("coordinate_transformation_mode", "tf_crop_and_resize"),
                number("extrapolation_value", 7),
                AttributeProto.newBuilder().setName("axes").addInts(-1).build())
            .output("y", TensorType.of(ElementType.F32, 1, 3));
    assertNear(sketch.run(folder, Tensor.floats(Shape.of(1, 4), 1, 2, 4, 8)).floats(), 3, 8, 7);
  }

  @Test
  void theSmallerScaleForBothAxes() {
    ModelSketch sketch =
        new ModelSketch(19)
            .input("x", TensorType.of(ElementType.F32, 2, 4))
            .initializer("sizes", Tensor.longs(Shape.of(2), 7, 8))
            .node(
                "",
                "Resize",
                List.of("x", "", "", "sizes"),
                "y",
                text("keep_aspect_ratio_policy", "not_larger"))
            .output("y", TensorType.of(ElementType.F32, 4, 8));
    assertThat(sketch.imported(folder).outputs().getFirst().value().type())
        .isEqualTo(TensorType.of(ElementType.F32, 4, 8));
  }

  @Test
  void invalidMode() {
    assertThatThrownBy(() -> resized(8, text("mode", "area")))
        .hasMessageContaining("P2004")
        .hasMessageContaining("a mode of nearest, linear or cubic");
  }
}
