package io.partita.driver.cases;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import ai.onnx.proto.OnnxMl.AttributeProto;
import ai.onnx.proto.OnnxMl.GraphProto;
import ai.onnx.proto.OnnxMl.ModelProto;
import ai.onnx.proto.OnnxMl.NodeProto;
import ai.onnx.proto.OnnxMl.OperatorSetIdProto;
import ai.onnx.proto.OnnxMl.TensorProto;
import ai.onnx.proto.OnnxMl.TensorShapeProto;
import ai.onnx.proto.OnnxMl.TypeProto;
import ai.onnx.proto.OnnxMl.ValueInfoProto;
import io.partita.driver.npz.Npz;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.Shape;
import io.partita.passes.Pipeline;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests explanations of differences from recorded results. */
class ExplainedDifferencesTest {
  private static final int ROWS = 64;

  @TempDir Path folder;

  private final GraphProto.Builder graph = GraphProto.newBuilder().setName("g");
  private Tolerance tolerance = Tolerance.DEFAULT;

  private static ValueInfoProto info(String name, long... extents) {
    TensorShapeProto.Builder shape = TensorShapeProto.newBuilder();
    for (long extent : extents) {
      shape.addDim(TensorShapeProto.Dimension.newBuilder().setDimValue(extent));
    }
    TypeProto.Tensor.Builder tensor =
        TypeProto.Tensor.newBuilder().setElemType(TensorProto.DataType.FLOAT_VALUE).setShape(shape);
    return ValueInfoProto.newBuilder()
        .setName(name)
        .setType(TypeProto.newBuilder().setTensorType(tensor))
        .build();
  }

  private void node(String operator, List<String> inputs, String output, AttributeProto... with) {
    graph.addNode(
        NodeProto.newBuilder()
            .setOpType(operator)
            .addAllInput(inputs)
            .addOutput(output)
            .addAllAttribute(List.of(with)));
  }

  private static AttributeProto integers(String name, long... values) {
    AttributeProto.Builder attribute =
        AttributeProto.newBuilder().setName(name).setType(AttributeProto.AttributeType.INTS);
    for (long value : values) {
      attribute.addInts(value);
    }
    return attribute.build();
  }

  private static AttributeProto one(String name) {
    return AttributeProto.newBuilder()
        .setName(name)
        .setType(AttributeProto.AttributeType.INT)
        .setI(1)
        .build();
  }

  private CaseResult check(Tensor x, Tensor recorded) throws IOException {
    ModelProto model =
        ModelProto.newBuilder()
            .setIrVersion(8)
            .addOpsetImport(OperatorSetIdProto.newBuilder().setVersion(13))
            .setGraph(graph)
            .build();
    Files.write(folder.resolve("network.onnx"), model.toByteArray());
    write("inputs.npz", Map.of("x", x));
    write("outputs.npz", Map.of("y", recorded));
    TestCase test = TestCase.find(folder).getFirst();
    return new CaseRunner(new EvaluatorRunner(), new Pipeline(List.of()), tolerance).run(test);
  }

  private void write(String name, Map<String, Tensor> arrays) throws IOException {
    try (OutputStream out = Files.newOutputStream(folder.resolve(name))) {
      Npz.write(arrays, out);
    }
  }

  /**
   * Sums of three, in levels of 0.4. Those of the first four rows are 0.6, between two levels; the
   * others are near 10.
   */
  private CaseResult quantizedSums(float... firstRecorded) throws IOException {
    graph.addInput(info("x", ROWS, 3)).addOutput(info("y", ROWS, 1));
    graph.addInitializer(
        TensorProto.newBuilder()
            .setName("w")
            .setDataType(TensorProto.DataType.FLOAT_VALUE)
            .addDims(3)
            .addDims(1)
            .addAllFloatData(List.of(1f, 1f, 1f)));
    graph.addInitializer(
        TensorProto.newBuilder()
            .setName("scale")
            .setDataType(TensorProto.DataType.FLOAT_VALUE)
            .addFloatData(0.4f));
    node("MatMul", List.of("x", "w"), "sums");
    node("QuantizeLinear", List.of("sums", "scale"), "levels");
    node("DequantizeLinear", List.of("levels", "scale"), "y");
    float[] x = new float[3 * ROWS];
    float[] y = new float[ROWS];
    for (int row = 0; row < ROWS; row++) {
      float factor = row < 4 ? 1 : 16;
      x[3 * row] = 0.1f * factor;
      x[3 * row + 1] = 0.2f * factor;
      x[3 * row + 2] = 0.3f * factor;
      y[row] = 9.6f;
    }
    System.arraycopy(firstRecorded, 0, y, 0, 4);
    return check(Tensor.floats(Shape.of(ROWS, 3), x), Tensor.floats(Shape.of(ROWS, 1), y));
  }

  @Test
  void sumsBetweenTwoLevelsMayRoundToEither() throws IOException {
    CaseResult result = quantizedSums(0.4f, 0.8f, 0.4f, 0.8f);
    assertThat(result.status()).isEqualTo(CaseResult.Status.PASS);
    assertThat(result.detail())
        .isEqualTo(
            "differs by 0.400; other rounding of sums and functions changes results by up to"
                + " 0.400");
  }

  @Test
  void givenTolerancesDecide() throws IOException {
    tolerance = new Tolerance(OptionalDouble.empty(), OptionalDouble.of(0.1));
    CaseResult result = quantizedSums(0.4f, 0.8f, 0.4f, 0.8f);
    assertThat(result.status()).isEqualTo(CaseResult.Status.FAIL);
    assertThat(result.detail())
        .startsWith("output 'y'[")
        .endsWith("other rounding of sums and functions changes results by up to 0.400");
  }

  @Test
  void invalidTolerancesAreRefused() {
    for (double wrong : new double[] {Double.NaN, -1, Double.POSITIVE_INFINITY}) {
      OptionalDouble bound = OptionalDouble.of(wrong);
      assertThatIllegalArgumentException()
          .isThrownBy(() -> new Tolerance(bound, OptionalDouble.empty()));
    }
  }

  @Test
  void unreachableLevelsAreWrong() throws IOException {
    CaseResult result = quantizedSums(0.4f, 0.8f, 0.4f, 2);
    assertThat(result.status()).isEqualTo(CaseResult.Status.FAIL);
    assertThat(result.detail())
        .startsWith("output 'y'[0,0]: expected 0.4")
        .contains("largest difference 1.20")
        .endsWith("; other rounding of sums and functions changes results by up to 0.400");
  }

  @Test
  void averagesPastThePaddingFollowTheStandard() throws IOException {
    graph.addInput(info("x", 1, 1, 5)).addOutput(info("y", 1, 1, 3));
    node(
        "AveragePool",
        List.of("x"),
        "y",
        integers("kernel_shape", 2),
        integers("strides", 2),
        one("ceil_mode"),
        one("count_include_pad"));
    Tensor x = Tensor.floats(Shape.of(1, 1, 5), 1, 2, 3, 4, 5);
    CaseResult standard = check(x, Tensor.floats(Shape.of(1, 1, 3), 1.5f, 3.5f, 5));
    assertThat(standard.status()).isEqualTo(CaseResult.Status.PASS);
    assertThat(standard.detail()).isEmpty();
    CaseResult departing = check(x, Tensor.floats(Shape.of(1, 1, 3), 1.5f, 3.5f, 2.5f));
    assertThat(departing.status()).isEqualTo(CaseResult.Status.PASS);
    assertThat(departing.detail())
        .isEqualTo(
            "exact; dividing averages over windows that reach past the padding by the whole"
                + " kernel, which ONNX Runtime before 1.31 and the recorded run did against the"
                + " standard, changes results by up to 2.50");
    CaseResult neither = check(x, Tensor.floats(Shape.of(1, 1, 3), 1.5f, 3.5f, 3));
    assertThat(neither.status()).isEqualTo(CaseResult.Status.FAIL);
  }

  private static TensorProto initializer(String name, TensorProto.DataType type, int value) {
    return TensorProto.newBuilder()
        .setName(name)
        .setDataType(type.getNumber())
        .addInt32Data(value)
        .build();
  }

  /** Quantized to 0.1, the row is 255 255 10; both weights of the first pair are 127. */
  private CaseResult productOfBytes(float recorded) throws IOException {
    graph.clear().setName("g");
    graph.addInput(info("x", 1, 3)).addOutput(info("y", 1, 1));
    graph.addInitializer(
        TensorProto.newBuilder()
            .setName("w")
            .setDataType(TensorProto.DataType.INT8_VALUE)
            .addDims(3)
            .addDims(1)
            .addAllInt32Data(List.of(127, 127, 1)));
    graph.addInitializer(initializer("zero", TensorProto.DataType.UINT8, 0));
    graph.addInitializer(
        TensorProto.newBuilder()
            .setName("scale")
            .setDataType(TensorProto.DataType.FLOAT_VALUE)
            .addFloatData(0.1f));
    node("QuantizeLinear", List.of("x", "scale", "zero"), "q");
    node("MatMulInteger", List.of("q", "w"), "sums");
    node(
        "Cast",
        List.of("sums"),
        "y",
        AttributeProto.newBuilder()
            .setName("to")
            .setType(AttributeProto.AttributeType.INT)
            .setI(TensorProto.DataType.FLOAT_VALUE)
            .build());
    return check(
        Tensor.floats(Shape.of(1, 3), 25.5f, 25.5f, 1), Tensor.floats(Shape.of(1, 1), recorded));
  }

  @Test
  void recordedSumsOfBytesMaySaturate() throws IOException {
    CaseResult exact = productOfBytes(255 * 127 * 2 + 10);
    assertThat(exact.status()).isEqualTo(CaseResult.Status.PASS);
    assertThat(exact.detail()).isEmpty();
    CaseResult saturated = productOfBytes(32767 + 10);
    assertThat(saturated.status()).isEqualTo(CaseResult.Status.PASS);
    assertThat(saturated.detail())
        .isEqualTo(
            "exact; adding pairs of products of u8 and i8 in 16 bits, which saturate, as ONNX"
                + " Runtime does on x86 without VNNI and the recorded run did, changes results by"
                + " up to 3.20e+04");
    CaseResult neither = productOfBytes(40_000);
    assertThat(neither.status()).isEqualTo(CaseResult.Status.FAIL);
  }
}
