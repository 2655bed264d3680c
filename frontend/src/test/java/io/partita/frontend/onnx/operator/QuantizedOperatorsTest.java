package io.partita.frontend.onnx.operator;

import static io.partita.frontend.onnx.ModelSketch.integer;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.partita.frontend.onnx.ImportOptions;
import io.partita.frontend.onnx.ModelSketch;
import io.partita.frontend.onnx.OnnxImporter;
import io.partita.frontend.onnx.OnnxModel;
import io.partita.ir.eval.Evaluator;
import io.partita.ir.graph.Graph;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Contraction;
import io.partita.ir.op.Op;
import io.partita.ir.op.Quantized;
import io.partita.ir.op.Source;
import io.partita.ir.op.Structured;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class QuantizedOperatorsTest {
  @TempDir Path folder;

  private static Tensor of(ElementType element, Shape shape, long... values) {
    return Tensor.ofLongs(new TensorType(element, shape), values);
  }

  private static List<Op> computations(Graph graph) {
    return graph.nodes().stream()
        .map(Node::op)
        .filter(op -> !(op instanceof Source.Constant))
        .toList();
  }

  private ModelSketch quantize(float scale) {
    return new ModelSketch(13)
        .input("x", TensorType.of(ElementType.F32, 4))
        .initializer("scale", Tensor.floats(Shape.SCALAR, scale))
        .initializer("zero", of(ElementType.I8, Shape.SCALAR, 1))
        .node("", "QuantizeLinear", List.of("x", "scale", "zero"), "y")
        .output("y", TensorType.of(ElementType.I8, 4));
  }

  @Test
  void quantisingRoundsHalfToEvenAndSaturates() {
    Tensor y = quantize(2).run(folder, Tensor.floats(Shape.of(4), 1, 3, -1000, 1000));
    // 0.5, 1.5, -500, 500: to 0, 2, then one more, within i8.
    assertThat(y.longs()).containsExactly(1, 3, -128, 127);
  }

  @ParameterizedTest
  @ValueSource(floats = {Float.NaN, 0, -1})
  void scalesArePositive(float scale) {
    assertThatThrownBy(() -> quantize(scale).imported(folder))
        .hasMessageContaining("P2004")
        .hasMessageContaining("a positive scale")
        .hasMessageContaining("a scale of " + scale);
  }

  /** Tests infinite scales, which quantisers write for infinite masks and ONNX Runtime uses. */
  @Test
  void infiniteScalesGiveInfinitiesAndNaN() {
    ModelSketch sketch =
        new ModelSketch(13)
            .input("q", TensorType.of(ElementType.I8, 3))
            .initializer("scale", Tensor.floats(Shape.SCALAR, Float.POSITIVE_INFINITY))
            .initializer("step", Tensor.floats(Shape.SCALAR, 1))
            .initializer("zero", of(ElementType.I8, Shape.SCALAR, 0))
            .node("", "DequantizeLinear", List.of("q", "scale", "zero"), "x")
            .node("", "QuantizeLinear", List.of("x", "step", "zero"), "y")
            .output("y", TensorType.of(ElementType.I8, 3));
    assertThat(sketch.run(folder, of(ElementType.I8, Shape.of(3), -3, 0, 5)).longs())
        .containsExactly(-128, -128, 127);
    assertThat(
            quantize(Float.POSITIVE_INFINITY)
                .run(folder, Tensor.floats(Shape.of(4), 1, -2, 3, 4))
                .longs())
        .containsExactly(1, 1, 1, 1);
  }

  private ModelSketch product(long leftZero, long rightZero) {
    return new ModelSketch(13)
        .input("a", TensorType.of(ElementType.U8, 2, 3))
        .initializer("b", of(ElementType.I8, Shape.of(3, 1), 1, -2, 3))
        .initializer("za", of(ElementType.U8, Shape.SCALAR, leftZero))
        .initializer("zb", of(ElementType.I8, Shape.of(1), rightZero))
        .node("", "MatMulInteger", List.of("a", "b", "za", "zb"), "y")
        .output("y", TensorType.of(ElementType.I32, 2, 1));
  }

  @Test
  void bytesAreMultipliedDirectly() {
    assertThat(computations(product(0, 0).imported(folder)))
        .containsExactly(new Contraction.MatMul(ElementType.I32));
  }

  @Test
  void zeroPointsAreSubtractedExactly() {
    Tensor a = of(ElementType.U8, Shape.of(2, 3), 255, 0, 7, 1, 2, 3);
    // Rows times [1, -2, 3].
    assertThat(product(0, 0).run(folder, a).longs()).containsExactly(276, 6);
    // Rows less 10.
    assertThat(product(10, 0).run(folder, a).longs()).containsExactly(276 - 20, 6 - 20);
    // The column less 1 is [0, -3, 2].
    assertThat(product(0, 1).run(folder, a).longs()).containsExactly(14, 0);
    // Rows less 10 times [0, -3, 2]: -10·-3 - 3·2, -8·-3 - 7·2.
    assertThat(product(10, 1).run(folder, a).longs()).containsExactly(24, 10);
  }

  @Test
  void weightsOfFourBitsStayPacked() {
    ModelSketch sketch =
        new ModelSketch(17)
            .importing("com.microsoft")
            .input("x", TensorType.of(ElementType.F32, 1, 32))
            .initializer("w", Tensor.filled(TensorType.of(ElementType.U8, 2, 1, 16), 0x2a))
            .initializer("s", Tensor.floats(Shape.of(2), 0.5f, -1))
            .node(
                "com.microsoft",
                "MatMulNBits",
                List.of("x", "w", "s"),
                "y",
                integer("K", 32),
                integer("N", 2),
                integer("bits", 4),
                integer("block_size", 32))
            .output("y", TensorType.of(ElementType.F32, 1, 2));
    Graph graph = sketch.imported(folder);
    assertThat(computations(graph))
        .containsExactly(
            new Quantized.Dequantize(1, 32, ElementType.F32), new Structured.Linear(true, false));
    Value weight =
        graph.nodes().stream()
            .filter(node -> node.op() instanceof Quantized.Dequantize)
            .findFirst()
            .orElseThrow()
            .operands()
            .getFirst();
    assertThat(weight.type()).hasToString("u4[2,32]");
    // The low half first: 10 - 8 = 2 and 2 - 8 = -6, so with x = 1, 2, 1, 2, …: 16 (2 - 12).
    float[] x = new float[32];
    for (int i = 0; i < x.length; i++) {
      x[i] = 1 + i % 2;
    }
    Tensor y = sketch.run(folder, Tensor.floats(Shape.of(1, 32), x));
    assertThat(y.floats()).containsExactly(-80, 160);
  }

  /** Tests exact products, and those with activations rounded like ONNX Runtime. */
  @Test
  void activationsAreRoundedOnlyOnRequest() {
    ModelSketch sketch =
        new ModelSketch(17)
            .importing("com.microsoft")
            .input("x", TensorType.of(ElementType.F32, 2, 20))
            .initializer("w", Tensor.filled(TensorType.of(ElementType.U8, 1, 2, 8), 0x99))
            .initializer("s", Tensor.floats(Shape.of(2), 1, 1))
            .node(
                "com.microsoft",
                "MatMulNBits",
                List.of("x", "w", "s"),
                "y",
                integer("K", 20),
                integer("N", 1),
                integer("bits", 4),
                integer("block_size", 16),
                integer("accuracy_level", 4))
            .output("y", TensorType.of(ElementType.F32, 2, 1));
    // Weights are 1. The first row's blocks: 127 and 0.6, which becomes 1; 127.4 in steps of
    // 127.4 / 127. The second row is zero except for its last element.
    float[] rows = new float[40];
    rows[0] = 127;
    rows[1] = 0.6f;
    rows[16] = 127.4f;
    rows[39] = 5;
    Tensor both = Tensor.floats(Shape.of(2, 20), rows);
    float[] exact = sketch.run(folder, both).floats();
    assertThat((double) exact[0]).isCloseTo(255, within(1e-4));
    Graph rounding =
        new OnnxImporter(ImportOptions.NONE.withDepartures())
            .importModel(OnnxModel.read(folder.resolve("model.onnx")))
            .graph();
    float[] rounded = Evaluator.run(rounding, List.of(both)).getFirst().floats();
    assertThat((double) rounded[0]).isCloseTo(255.4, within(1e-4));
    assertThat((double) rounded[1]).isCloseTo(5, within(1e-4));
  }

  @Test
  void dynamicQuantisingOfZerosIsZero() {
    ModelSketch sketch =
        new ModelSketch(13)
            .input("x", TensorType.of(ElementType.F32, 2))
            .node("", "DynamicQuantizeLinear", List.of("x"), "y")
            .output("y", TensorType.of(ElementType.U8, 2));
    assertThat(sketch.run(folder, Tensor.floats(Shape.of(2), 0, 0)).longs()).containsExactly(0, 0);
    // The range -1 … 4 has steps of 5/255, of which 51 lie below zero.
    assertThat(sketch.run(folder, Tensor.floats(Shape.of(2), -1, 4)).longs())
        .containsExactly(0, 255);
  }

  private long[] sum(float left, long leftZero, float right, long rightZero, float to, long zero) {
    ModelSketch sketch =
        new ModelSketch(13)
            .importing("com.microsoft")
            .input("a", TensorType.of(ElementType.I8, 8))
            .initializer("sa", Tensor.floats(Shape.SCALAR, left))
            .initializer("za", of(ElementType.I8, Shape.SCALAR, leftZero))
            .initializer("b", of(ElementType.I8, Shape.of(8), 0, 0, 2, 4, 6, 8, 100, -100))
            .initializer("sb", Tensor.floats(Shape.SCALAR, right))
            .initializer("zb", of(ElementType.I8, Shape.SCALAR, rightZero))
            .initializer("sc", Tensor.floats(Shape.SCALAR, to))
            .initializer("zc", of(ElementType.I8, Shape.SCALAR, zero))
            .node(
                "com.microsoft",
                "QLinearAdd",
                List.of("a", "sa", "za", "b", "sb", "zb", "sc", "zc"),
                "y")
            .output("y", TensorType.of(ElementType.I8, 8));
    return sketch
        .run(folder, of(ElementType.I8, Shape.of(8), 1, 2, 3, 5, -4, 100, 127, -128))
        .longs();
  }

  /** The results of ONNX Runtime 1.31, with half of the sums between two levels. */
  @Test
  void quantisedSumsRoundHalfToEven() {
    assertThat(sum(1, 0, 0.5f, 0, 2, -127))
        .containsExactly(-126, -126, -125, -124, -128, -75, -38, -128);
    assertThat(sum(0.1f, 1, 0.1f, 2, 0.2f, 3)).containsExactly(2, 2, 4, 6, 2, 56, 115, -112);
    assertThat(sum(0.7f, -3, 0.7f, 5, 1.4f, 7)).containsExactly(6, 7, 8, 10, 7, 60, 120, -108);
  }

  private long[] globalAverage(float scale, long zero, float to, long toZero) {
    ModelSketch sketch =
        new ModelSketch(13)
            .importing("com.microsoft")
            .input("x", TensorType.of(ElementType.U8, 1, 3, 2, 2))
            .initializer("sx", Tensor.floats(Shape.SCALAR, scale))
            .initializer("zx", of(ElementType.U8, Shape.SCALAR, zero))
            .initializer("sy", Tensor.floats(Shape.SCALAR, to))
            .initializer("zy", of(ElementType.U8, Shape.SCALAR, toZero))
            .node(
                "com.microsoft",
                "QLinearGlobalAveragePool",
                List.of("x", "sx", "zx", "sy", "zy"),
                "y")
            .output("y", TensorType.of(ElementType.U8, 1, 3, 1, 1));
    Tensor x = of(ElementType.U8, Shape.of(1, 3, 2, 2), 1, 2, 3, 4, 5, 5, 5, 7, 200, 201, 202, 203);
    return sketch.run(folder, x).longs();
  }

  /** The results of ONNX Runtime 1.31; means of four are often between two levels. */
  @Test
  void quantisedAveragesRoundHalfToEven() {
    assertThat(globalAverage(0.3f, 3, 0.3f, 2)).containsExactly(2, 4, 200);
    assertThat(globalAverage(0.1f, 0, 0.1f, 1)).containsExactly(3, 7, 203);
    assertThat(globalAverage(0.7f, 10, 0.35f, 5)).containsExactly(0, 0, 255);
  }

  /** The results of ONNX Runtime 1.31, which truncates 1 / 0.0044645 = 223.99 to 223. */
  @Test
  void quantisedSoftmaxHasAnIntegralNumberOfLevels() {
    ModelSketch sketch =
        new ModelSketch(13)
            .importing("com.microsoft")
            .input("x", TensorType.of(ElementType.U8, 2, 4))
            .initializer("sx", Tensor.floats(Shape.SCALAR, 0.05f))
            .initializer("zx", of(ElementType.U8, Shape.SCALAR, 100))
            .initializer("sy", Tensor.floats(Shape.SCALAR, 0.0044645f))
            .initializer("zy", of(ElementType.U8, Shape.SCALAR, 3))
            .node(
                "com.microsoft",
                "QLinearSoftmax",
                List.of("x", "sx", "zx", "sy", "zy"),
                "y",
                integer("opset", 13),
                integer("axis", -1))
            .output("y", TensorType.of(ElementType.U8, 2, 4));
    Tensor x = of(ElementType.U8, Shape.of(2, 4), 250, 100, 90, 80, 120, 121, 119, 123);
    assertThat(sketch.run(folder, x).longs()).containsExactly(226, 3, 3, 3, 57, 59, 54, 65);
  }

  private long[] convolved(boolean channelsLast, Tensor x) {
    TensorType type = new TensorType(ElementType.U8, x.shape());
    ModelSketch sketch =
        new ModelSketch(13)
            .importing("com.microsoft")
            .input("x", type)
            .initializer("sx", Tensor.floats(Shape.SCALAR, 0.5f))
            .initializer("zx", of(ElementType.U8, Shape.SCALAR, 3))
            .initializer("w", of(ElementType.I8, Shape.of(2, 2, 1, 1), 1, 2, -3, 4))
            .initializer("sw", Tensor.floats(Shape.of(2), 0.5f, 0.25f))
            .initializer("zw", of(ElementType.I8, Shape.of(2), 0, 0))
            .initializer("sy", Tensor.floats(Shape.SCALAR, 0.25f))
            .initializer("zy", of(ElementType.U8, Shape.SCALAR, 100))
            .node(
                "com.microsoft",
                "QLinearConv",
                List.of("x", "sx", "zx", "w", "sw", "zw", "sy", "zy"),
                "y",
                integer("channels_last", channelsLast ? 1 : 0))
            .output("y", type);
    return sketch.run(folder, x).longs();
  }

  @Test
  void quantisedConvolutionsMayHaveChannelsLast() {
    Tensor first = of(ElementType.U8, Shape.of(1, 2, 1, 3), 3, 4, 5, 13, 3, 23);
    assertThat(convolved(false, first)).containsExactly(120, 101, 142, 120, 98, 137);
    Tensor last = of(ElementType.U8, Shape.of(1, 1, 3, 2), 3, 13, 4, 3, 5, 23);
    assertThat(convolved(true, last)).containsExactly(120, 120, 101, 98, 142, 137);
  }

  @Test
  void poolingIgnoresBlocksOfChannels() {
    TensorType type = TensorType.of(ElementType.F32, 1, 2, 2, 2);
    ModelSketch sketch =
        new ModelSketch(13)
            .importing("com.microsoft.nchwc")
            .input("x", type)
            .node(
                "com.microsoft.nchwc",
                "ReorderInput",
                List.of("x"),
                "blocks",
                integer("channels_last", 1))
            .node("com.microsoft.nchwc", "GlobalMaxPool", List.of("blocks"), "largest")
            .node(
                "com.microsoft.nchwc",
                "ReorderOutput",
                List.of("largest"),
                "y",
                integer("channels", 2))
            .output("y", TensorType.of(ElementType.F32, 1, 2, 1, 1));
    Tensor x = Tensor.floats(Shape.of(1, 2, 2, 2), 1, 8, 7, 2, 3, 5, 4, 6);
    assertThat(sketch.run(folder, x).floats()).containsExactly(7, 8);
  }

  /** Tests what ONNX Runtime's quantizer makes of shapes that an exporter computes in floats. */
  @Test
  void shapesFollowFromDequantizedConstants() {
    ModelSketch sketch =
        new ModelSketch(13)
            .input("x", TensorType.of(ElementType.I64, 1))
            .initializer("positions", of(ElementType.I8, Shape.of(3), 0, 4, 8))
            .initializer("scale", Tensor.floats(Shape.SCALAR, 0.5f))
            .initializer("zero", of(ElementType.I8, Shape.SCALAR, 0))
            .initializer("last", Tensor.longs(Shape.SCALAR, 2))
            .initializer("none", Tensor.longs(Shape.SCALAR, 0))
            .initializer("one", Tensor.longs(Shape.SCALAR, 1))
            .node("", "DequantizeLinear", List.of("positions", "scale", "zero"), "floats")
            .node("", "Gather", List.of("floats", "last"), "limit")
            .node("", "QuantizeLinear", List.of("limit", "scale", "zero"), "level")
            .node("", "DequantizeLinear", List.of("level", "scale", "zero"), "rounded")
            .node("", "Cast", List.of("rounded"), "count", integer("to", 7))
            .node("", "Range", List.of("none", "count", "one"), "range")
            .node("", "Add", List.of("range", "x"), "y")
            .output("y", TensorType.of(ElementType.I64, 4));
    assertThat(sketch.run(folder, Tensor.longs(Shape.of(1), 3)).longs())
        .containsExactly(3, 4, 5, 6);
  }
}
