package io.partita.frontend.onnx.operator;

import static io.partita.frontend.onnx.ModelSketch.integer;
import static io.partita.frontend.onnx.ModelSketch.tensor;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ai.onnx.proto.OnnxMl.AttributeProto;
import io.partita.frontend.onnx.ModelSketch;
import io.partita.ir.graph.Graph;
import io.partita.ir.graph.Node;
import io.partita.ir.op.Contraction;
import io.partita.ir.op.IntegerNetwork;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests networks with integers in float tensors against hand-computed values. */
class PulpOperatorsTest {
  @TempDir Path folder;

  private static TensorType real(long... extents) {
    return TensorType.of(ElementType.F32, extents);
  }

  private static Tensor ints(Shape shape, long... values) {
    return Tensor.ofLongs(new TensorType(ElementType.I32, shape), values);
  }

  private Tensor run(String operator, Tensor x, AttributeProto... attributes) {
    return new ModelSketch(13)
        .input("x", x.type().with(ElementType.F32))
        .node("PACTOps", operator, List.of("x"), "y", attributes)
        .output("y", x.type().with(ElementType.F32))
        .run(folder, x);
  }

  private ModelSketch requantizedProduct(float weight, String domain) {
    return new ModelSketch(13)
        .input("x", real(1, 2))
        .initializer("w", Tensor.floats(Shape.of(2, 2), weight, 2, 3, -4))
        .initializer("mul", Tensor.floats(Shape.of(1), 3))
        .initializer("add", Tensor.floats(Shape.of(1), -1))
        .node("", "MatMul", List.of("x", "w"), "p")
        .node(
            domain,
            "RequantShift",
            List.of("p", "mul", "add"),
            "y",
            tensor("div", Tensor.floats(Shape.of(1), 4)),
            tensor("n_levels_out", Tensor.floats(Shape.of(1), 256)),
            tensor("signed", Tensor.floats(Shape.of(1), 1)))
        .output("y", real(1, 2));
  }

  @Test
  void floatsOfIntegerNetworksBecomeIntegers() {
    Graph graph = requantizedProduct(1, "").imported(folder);
    assertThat(graph.inputs().getFirst().type()).hasToString("i32[1,2]");
    assertThat(graph.outputs().getFirst().value().type()).hasToString("i32[1,2]");
    Node product =
        graph.nodes().stream()
            .filter(node -> node.op() instanceof Contraction.MatMul)
            .findFirst()
            .orElseThrow();
    assertThat(product.op()).isEqualTo(new Contraction.MatMul(ElementType.I32));
    assertThat(product.operands().get(1).type()).hasToString("i8[2,2]");
  }

  @Test
  void requantisingRoundsHalfUpInAnyDomain() {
    // x w = [1 + 6, 2 - 8] = [7, -6]; 3 x - 1 = [20, -19]; / 4 = [5, -4.75].
    for (String domain : List.of("", "PACTOps", "ai.onnx.contrib")) {
      Tensor y = requantizedProduct(1, domain).run(folder, ints(Shape.of(1, 2), 1, 2));
      assertThat(y).isEqualTo(ints(Shape.of(1, 2), 5, -5));
    }
    // x w = [-3, -6]; 3 x - 1 = [-10, -19]; / 4 = [-2.5, -4.75].
    Tensor half = requantizedProduct(1, "").run(folder, ints(Shape.of(1, 2), -3, 0));
    assertThat(half).isEqualTo(ints(Shape.of(1, 2), -2, -5));
  }

  @Test
  void fractionalWeightsPreventIntegers() {
    assertThatThrownBy(() -> requantizedProduct(0.5f, "").imported(folder))
        .hasMessageContaining("P2003")
        .hasMessageContaining("RequantShift in a network with non-integral values");
  }

  @Test
  void otherParametersBroadcastAlongTheChannels() {
    ModelSketch sketch =
        new ModelSketch(13)
            .input("x", real(1, 2, 3))
            .initializer("mul", Tensor.floats(Shape.of(2, 1, 1), 2, 4))
            .initializer("add", Tensor.floats(Shape.of(2, 1, 1), 0, 2))
            .node(
                "",
                "RequantShift",
                List.of("x", "mul", "add"),
                "y",
                integer("div", 4),
                integer("n_levels", 16),
                integer("signed", 0))
            .output("y", real(1, 2, 3));
    Tensor y = sketch.run(folder, ints(Shape.of(1, 2, 3), 1, 2, -3, 1, 7, 90));
    // (2 x) / 4 = 0.5, 1, -1.5 and (4 x + 2) / 4 = 1.5, 7.5, 90.5, clamped to 0 … 15.
    assertThat(y.longs()).containsExactly(1, 1, 0, 2, 8, 15);
  }

  @Test
  void hardSwishMultipliesByTheClampedGate() {
    Tensor y =
        run(
            "iHardswish",
            ints(Shape.of(4), -5, -1, 2, 9),
            integer("three", 3),
            integer("six", 6),
            integer("one_over_six", 10));
    // clamp(x + 3, 0, 6) 10 x = 0, 2·10·-1, 5·10·2, 6·10·9.
    assertThat(y).isEqualTo(ints(Shape.of(4), 0, -20, 100, 540));
  }

  @Test
  void trueIntegerDivMultipliesByAFlooredQuotient() {
    AttributeProto[] attributes = {
      integer("Delta", 16384), integer("eps", 1), integer("eta", 200000), integer("y", 2)
    };
    // ⌊16384·200000 / 400001⌋ = 8191.
    assertThat(run("TrueIntegerDiv", ints(Shape.of(2), 3, -1), attributes))
        .isEqualTo(ints(Shape.of(2), 24573, -8191));
  }

  @Test
  void meansRoundHalfUp() {
    // Sums 1, -3, 6 of two: 0.5, -1.5, 3.
    assertThat(
            run("IntegerMean", ints(Shape.of(3, 2), 0, 1, -1, -2, 2, 4), integer("axes", 1))
                .longs())
        .containsExactly(1, -1, 3);
    // Sums 4, -4 of three: 1.33, -1.33, and by a divisor that is no power of two.
    assertThat(
            run("IntegerMean", ints(Shape.of(2, 3), 1, 1, 2, -1, -1, -2), integer("axes", 1))
                .longs())
        .containsExactly(1, -1);
  }

  @Test
  void integerDivRoundsHalfUp() {
    ModelSketch sketch =
        new ModelSketch(13)
            .input("a", real(4))
            .input("b", real(4))
            .node(
                "PACTOps",
                "IntegerDiv",
                List.of("a", "b"),
                "y",
                integer("Delta", 2),
                integer("eps", 0),
                integer("eta", 1))
            .output("y", real(4));
    // 2 a / b = 7/2, -7/2, 2·5/3, 2·-5/3.
    Tensor y = sketch.run(folder, ints(Shape.of(4), 7, -7, 5, -5), ints(Shape.of(4), 4, 4, 3, 3));
    assertThat(y.longs()).containsExactly(4, -3, 3, -3);
  }

  @Test
  void normsRoundBeforeShifting() {
    ModelSketch sketch =
        new ModelSketch(13)
            .input("x", real(3))
            .initializer("w", Tensor.floats(Shape.of(3), 2, 2, 100))
            .initializer("b", Tensor.floats(Shape.of(3), 1, 0, 0))
            .node(
                "",
                "iNoNorm",
                List.of("x", "w", "b"),
                "y",
                integer("D", 4),
                integer("mul", 3),
                integer("n_levels", 256))
            .output("y", real(3));
    // ((2·1 + 1) 3) >> 2 = ⌊9/4⌋; ⌊-6/4⌋; 900/4 clamped to 127.
    assertThat(sketch.run(folder, ints(Shape.of(3), 1, -1, 3)).longs()).containsExactly(2, -2, 127);
  }

  @Test
  void structuredOperationsStayWhole() {
    ModelSketch sketch =
        new ModelSketch(13)
            .input("x", real(1, 4))
            .node("", "iGELU", List.of("x"), "g", integer("b", -4), integer("one", 20))
            .node(
                "",
                "ITAMax",
                List.of("g"),
                "y",
                tensor("n_levels", Tensor.floats(Shape.of(1), 256)))
            .output("y", real(1, 4));
    assertThat(sketch.imported(folder).nodes())
        .extracting(Node::op)
        .containsExactly(
            new IntegerNetwork.IntegerGelu(-4, 20), new IntegerNetwork.PowerSoftmax(256, 0));
  }

  @Test
  void divisorsArePowersOfTwo() {
    assertThatThrownBy(
            () ->
                new ModelSketch(13)
                    .input("x", real(2))
                    .initializer("one", Tensor.floats(Shape.of(1), 1))
                    .node(
                        "",
                        "RequantShift",
                        List.of("x", "one", "one"),
                        "y",
                        integer("div", 12),
                        integer("n_levels", 256))
                    .output("y", real(2))
                    .imported(folder))
        .hasMessageContaining("a power of two as div")
        .hasMessageContaining("12");
  }
}
