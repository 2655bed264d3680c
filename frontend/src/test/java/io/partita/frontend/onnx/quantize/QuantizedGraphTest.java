package io.partita.frontend.onnx.quantize;

import static io.partita.frontend.onnx.ModelSketch.integer;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import ai.onnx.proto.OnnxMl.AttributeProto;
import ai.onnx.proto.OnnxMl.ModelProto;
import ai.onnx.proto.OnnxMl.NodeProto;
import io.partita.frontend.onnx.ImportOptions;
import io.partita.frontend.onnx.ModelSketch;
import io.partita.frontend.onnx.OnnxImporter;
import io.partita.frontend.onnx.OnnxModel;
import io.partita.ir.eval.Evaluator;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class QuantizedGraphTest {
  private static final int ROWS = 8;
  private static final int COLUMNS = 6;

  @TempDir Path folder;

  private static Tensor random(int seed, long... shape) {
    Random random = new Random(seed);
    int size = (int) Arrays.stream(shape).reduce(1, (one, other) -> one * other);
    float[] values = new float[size];
    for (int i = 0; i < size; i++) {
      values[i] = (float) random.nextGaussian();
    }
    return Tensor.floats(Shape.of(shape), values);
  }

  /** A norm whose mean is a {@code ReduceMean}, and two products that read it. */
  private static ModelSketch sketch(int version) {
    return sketch(version, random(4, COLUMNS));
  }

  private static ModelSketch sketch(int version, Tensor bias) {
    return new ModelSketch(version)
        .input("x", TensorType.of(ElementType.F32, 3, ROWS))
        .initializer("gamma", random(1, ROWS))
        .initializer("w", random(2, ROWS, COLUMNS))
        .initializer("v", random(3, COLUMNS, ROWS))
        .initializer("bias", bias)
        .node("", "ReduceMean", List.of("x"), "mean", integers("axes", -1))
        .node("", "Sub", List.of("x", "mean"), "centred")
        .node("", "Mul", List.of("centred", "gamma"), "normed")
        .node("", "MatMul", List.of("normed", "w"), "left")
        .node("", "Gemm", List.of("normed", "v", "bias"), "right", integer("transB", 1))
        .node("", "Add", List.of("left", "right"), "y")
        .output("y", TensorType.of(ElementType.F32, 3, COLUMNS));
  }

  private QuantizableModel model(int version) {
    return QuantizableModel.of(OnnxModel.read(sketch(version).written(folder)));
  }

  private static ModelProto quantized(
      QuantizableModel model, int bits, Optional<Affine> code, Optional<double[]> factors) {
    Map<Product, QuantizedGraph.Choice> choices = new LinkedHashMap<>();
    for (Product product : model.products()) {
      float[] matrix = product.matrix(factors);
      choices.put(
          product,
          new QuantizedGraph.Choice(
              bits == 8
                  ? QuantizedMatrix.bytes(matrix, ROWS, COLUMNS)
                  : QuantizedMatrix.nibbles(matrix, ROWS, COLUMNS, 4),
              code));
    }
    return QuantizedGraph.of(
        model,
        choices,
        factors.map(each -> Map.of("normed", each)).orElse(Map.of()),
        List.of(),
        List.of());
  }

  private Tensor run(ModelProto proto, Tensor x) throws IOException {
    Path file = folder.resolve("q.onnx");
    Files.write(file, proto.toByteArray());
    return run(file, x);
  }

  private static Tensor run(Path file, Tensor x) {
    return Evaluator.run(
            new OnnxImporter(ImportOptions.NONE).importModel(OnnxModel.read(file)).graph(),
            List.of(x))
        .getFirst();
  }

  private static List<String> operators(ModelProto proto) {
    return proto.getGraph().getNodeList().stream().map(NodeProto::getOpType).toList();
  }

  private static double distance(Tensor one, Tensor other) {
    double difference = 0;
    double whole = 0;
    for (int i = 0; i < one.size(); i++) {
      difference += Math.pow(one.getDouble(i) - other.getDouble(i), 2);
      whole += Math.pow(one.getDouble(i), 2);
    }
    return Math.sqrt(difference / whole);
  }

  @Test
  void productsShareTheIntegersOfTheirInput() throws IOException {
    Tensor x = random(9, 3, ROWS);
    QuantizableModel model = model(13);
    ModelProto proto = quantized(model, 8, Optional.of(Affine.of(-3, 3)), Optional.empty());
    assertThat(operators(proto))
        .containsExactly(
            "ReduceMean",
            "Sub",
            "Mul",
            "DequantizeLinear",
            "QuantizeLinear",
            "DequantizeLinear",
            "MatMul",
            "DequantizeLinear",
            "DequantizeLinear",
            "Gemm",
            "Add");
    assertThat(proto.getGraph().getInitializerList())
        .extracting(tensor -> tensor.getName())
        .contains("gamma", "w_quantized", "v_quantized", "bias_quantized")
        .doesNotContain("w", "v", "bias");
    assertThat(distance(sketch(13).run(folder, x), run(proto, x))).isBetween(1e-4, 0.02);
  }

  /** Its largest number is more than 2^31 steps of a sum of the second column. */
  @Test
  void aBiasBeyondTheSumsStaysFloat() throws IOException {
    Tensor x = random(9, 3, ROWS);
    Tensor bias = Tensor.floats(Shape.of(COLUMNS), 1, 4e6f, 1, 1, 1, 1);
    ModelSketch sketch = sketch(13, bias);
    QuantizableModel model = QuantizableModel.of(OnnxModel.read(sketch.written(folder)));
    ModelProto proto = quantized(model, 8, Optional.of(Affine.of(-3, 3)), Optional.empty());
    assertThat(proto.getGraph().getInitializerList())
        .extracting(tensor -> tensor.getName())
        .contains("bias", "v_quantized")
        .doesNotContain("bias_quantized");
    assertThat(distance(sketch.run(folder, x), run(proto, x))).isLessThan(1e-6);
  }

  @Test
  void nibblesUpgradeTheOperatorSet() throws IOException {
    Tensor x = random(9, 3, ROWS);
    ModelProto proto = quantized(model(13), 4, Optional.empty(), Optional.empty());
    assertThat(proto.getOpsetImport(0).getVersion()).isEqualTo(21);
    assertThat(proto.getGraph().getNode(0).getInputList()).containsExactly("x", "mean_axes_0");
    assertThat(distance(sketch(13).run(folder, x), run(proto, x))).isBetween(1e-3, 0.2);
  }

  @Test
  void factorsOfFeaturesCancel() throws IOException {
    Tensor x = random(9, 3, ROWS);
    QuantizableModel model = model(17);
    assertThat(new NormScales(model, model.products()).isScaled("normed")).isTrue();
    assertThat(new NormScales(model, model.products().subList(0, 1)).isScaled("normed")).isFalse();
    double[] factors = {2, 0.5, 1.5, 0.75, 1, 2, 0.5, 1};
    ModelProto plain = quantized(model, 8, Optional.empty(), Optional.empty());
    ModelProto smoothed = quantized(model, 8, Optional.empty(), Optional.of(factors));
    Tensor exact = sketch(17).run(folder, x);
    assertThat(distance(exact, run(plain, x))).isLessThan(0.01);
    assertThat(distance(exact, run(smoothed, x))).isBetween(1e-5, 0.02);
    assertThat(smoothed.getGraph().getNode(2).getInput(1)).isEqualTo("gamma_smoothed");
  }

  @Test
  void dataCanBeExternal() throws IOException {
    Tensor x = random(9, 3, ROWS);
    QuantizableModel model = model(17);
    ModelProto proto = quantized(model, 8, Optional.of(Affine.of(-3, 3)), Optional.empty());
    proto =
        proto.toBuilder()
            .setGraph(
                proto.getGraph().toBuilder()
                    .addInitializer(
                        proto.getGraph().getInitializer(0).toBuilder()
                            .setName("large")
                            .setDims(0, 512)
                            .setRawData(com.google.protobuf.ByteString.copyFrom(new byte[2048]))))
            .build();
    Path file = folder.resolve("external.onnx");
    try (OutputStream data = Files.newOutputStream(folder.resolve("external.onnx.data"));
        OutputStream out = Files.newOutputStream(file)) {
      new QuantizedFile(proto, model.model()).writeData(data, "external.onnx.data").writeModel(out);
    }
    assertThat(folder.resolve("external.onnx.data")).hasSize(2048);
    assertThat(OnnxModel.read(file).dataFiles()).hasSize(1);
    Tensor inline = run(proto, x);
    assertThat(distance(inline, run(file, x))).isEqualTo(0, within(0.0));
  }

  /** What changed between 11 and 13, and a softmax of dimensions from one on. */
  private static ModelSketch old(int axis) {
    return new ModelSketch(11)
        .input("x", TensorType.of(ElementType.F32, 3, ROWS))
        .initializer("w", random(2, ROWS, COLUMNS))
        .initializer("pads", Tensor.longs(Shape.of(4), 1, 0, -1, 0))
        .node("", "Pad", List.of("x", "pads"), "moved")
        .node("", "MatMul", List.of("moved", "w"), "product")
        .node("", "Unsqueeze", List.of("product"), "row", integers("axes", 1))
        .node("", "Softmax", List.of("row"), "weights", integer("axis", axis))
        .node("", "ReduceSum", List.of("weights"), "sum", integers("axes", 0))
        .node("", "Mul", List.of("row", "sum"), "scaled")
        .node("", "Squeeze", List.of("scaled"), "flat", integers("axes", 1))
        .node("", "Dropout", List.of("flat"), "y", ratio())
        .output("y", TensorType.of(ElementType.F32, 3, COLUMNS));
  }

  private static AttributeProto integers(String name, long value) {
    return AttributeProto.newBuilder()
        .setName(name)
        .setType(AttributeProto.AttributeType.INTS)
        .addInts(value)
        .build();
  }

  private static AttributeProto ratio() {
    return AttributeProto.newBuilder()
        .setName("ratio")
        .setType(AttributeProto.AttributeType.FLOAT)
        .setF(0.5f)
        .build();
  }

  @ParameterizedTest
  @ValueSource(ints = {-1, 2})
  void oldOperatorSetsAreUpgraded(int axis) throws IOException {
    Tensor x = random(9, 3, ROWS);
    QuantizableModel model = QuantizableModel.of(OnnxModel.read(old(axis).written(folder)));
    assertThat(model.model().operatorSets()).containsEntry("", 13);
    assertThat(model.proto().getGraph().getNodeList())
        .extracting(node -> node.getInputList().size())
        .containsExactly(2, 2, 2, 1, 2, 2, 2, 1);
    ModelProto proto = quantized(model, 8, Optional.empty(), Optional.empty());
    assertThat(distance(old(axis).run(folder, x), run(model.proto(), x))).isZero();
    assertThat(distance(old(axis).run(folder, x), run(proto, x))).isBetween(1e-4, 0.02);
    ModelProto nibbles = quantized(model, 4, Optional.empty(), Optional.empty());
    assertThat(nibbles.getOpsetImport(0).getVersion()).isEqualTo(21);
    assertThat(distance(old(axis).run(folder, x), run(nibbles, x))).isBetween(1e-3, 0.2);
  }

  @Test
  void softmaxesOfSeveralDimensionsAreNotUpgraded() {
    OnnxModel old = OnnxModel.read(old(1).written(folder));
    assertThatThrownBy(() -> QuantizableModel.of(old))
        .hasMessageContaining("P6305")
        .hasMessageContaining("operator set 13, which has scales for each column")
        .hasMessageContaining("a Softmax of the dimensions from 1 on together");
  }

  @Test
  void olderOperatorSetsCannotBeUpgraded() {
    OnnxModel old = OnnxModel.read(sketch(10).written(folder));
    assertThatThrownBy(() -> QuantizableModel.of(old))
        .hasMessageContaining("P6305")
        .hasMessageContaining("operator set 10")
        .hasMessageContaining("export the model with opset_version=17");
  }

  @Test
  void aModelNeedsAProduct() {
    Path file =
        new ModelSketch(17)
            .input("x", TensorType.of(ElementType.F32, 3, 3))
            .node("", "MatMul", List.of("x", "x"), "y")
            .output("y", TensorType.of(ElementType.F32, 3, 3))
            .written(folder);
    OnnxModel model = OnnxModel.read(file);
    assertThatThrownBy(() -> QuantizableModel.of(model))
        .hasMessageContaining("P6302")
        .hasMessageContaining("a MatMul or Gemm with a trained f32 matrix in the main graph");
  }
}
