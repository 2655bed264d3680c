package io.partita.frontend.onnx.quantize;

import static org.assertj.core.api.Assertions.assertThat;

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
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class QuantizedFunctionTest {
  private static final int SIZE = 4;
  private static final TensorType ROWS = TensorType.of(ElementType.F32, 3, SIZE);

  @TempDir Path folder;

  private static Tensor random(int seed, long... extents) {
    Random random = new Random(seed);
    Shape shape = Shape.of(extents);
    float[] values = new float[(int) shape.elements()];
    for (int i = 0; i < values.length; i++) {
      values[i] = (float) random.nextGaussian();
    }
    return Tensor.floats(shape, values);
  }

  private static ModelSketch sketch() {
    return new ModelSketch(17)
        .input("x", ROWS)
        .initializer("w1", random(1, SIZE, SIZE))
        .initializer("w2", random(2, SIZE, SIZE))
        .initializer("w3", random(3, SIZE, SIZE))
        .initializer("bias", random(4, SIZE))
        .initializer("root", Tensor.floats(Shape.of(1), (float) Math.sqrt(2)))
        .initializer("one", Tensor.scalar(ElementType.F32, 1))
        .initializer("half", Tensor.scalar(ElementType.F32, 0.5))
        .node("", "MatMul", List.of("x", "w1"), "first");
  }

  private QuantizableModel read(ModelSketch sketch) {
    return QuantizableModel.of(OnnxModel.read(sketch.output("y", ROWS).written(folder)));
  }

  /** A network with a bias and the nodes that exporters write for GELU. */
  private QuantizableModel gelu() {
    return read(
        sketch()
            .node("", "Add", List.of("bias", "first"), "biased")
            .node("", "Div", List.of("biased", "root"), "scaled")
            .node("", "Erf", List.of("scaled"), "error")
            .node("", "Add", List.of("error", "one"), "both")
            .node("", "Mul", List.of("biased", "both"), "twice")
            .node("", "Mul", List.of("twice", "half"), "active")
            .node("", "MatMul", List.of("active", "w2"), "y"));
  }

  private QuantizableModel gated(String activation) {
    return read(
        sketch()
            .node("", activation, List.of("first"), "sigmoid")
            .node("", "Mul", List.of("first", "sigmoid"), "active")
            .node("", "MatMul", List.of("x", "w2"), "up")
            .node("", "Mul", List.of("active", "up"), "inner")
            .node("", "MatMul", List.of("inner", "w3"), "y"));
  }

  @Test
  void findsAFunctionOfSeveralNodesAfterABias() {
    FunctionSite site = gelu().functions().getFirst();
    assertThat(site.input()).isEqualTo("biased");
    assertThat(site.output()).isEqualTo("active");
    assertThat(site.nodes()).containsExactly(2, 3, 4, 5, 6);
  }

  @Test
  void findsTheActivationOfAGate() {
    List<FunctionSite> sites = gated("Sigmoid").functions();
    assertThat(sites).extracting(FunctionSite::input).containsExactly("first");
    assertThat(sites).extracting(FunctionSite::output).containsExactly("active");
    assertThat(gated("Relu").functions()).isEmpty();
  }

  /** Neither a residual nor scores are inner features of a network. */
  @Test
  void otherFunctionsStayFloat() {
    QuantizableModel residual =
        read(
            sketch()
                .node("", "Tanh", List.of("first"), "active")
                .node("", "Add", List.of("active", "x"), "sum")
                .node("", "MatMul", List.of("sum", "w2"), "y"));
    assertThat(residual.functions()).isEmpty();
    assertThat(read(sketch().node("", "Tanh", List.of("first"), "y")).functions()).isEmpty();
  }

  @Test
  void computesTheValuesOfAFunction() {
    QuantizableModel model = gelu();
    float[] values = model.values(model.functions().getFirst(), new float[] {-1, 0, 2});
    assertThat(values)
        .usingComparatorWithPrecision(1e-6f)
        .containsExactly(-0.1586553f, 0, 1.9544997f);
  }

  @Test
  void allNodesReadTheSameBytes() throws IOException {
    QuantizableModel model = gelu();
    FunctionSite site = model.functions().getFirst();
    Affine code = Affine.of(-6, 6);
    ModelProto quantized =
        QuantizedGraph.of(
            model,
            Map.of(),
            Map.of(),
            List.of(),
            List.of(QuantizedGraph.ValueChoice.of(site, code)));
    assertThat(quantized.getGraph().getNodeList())
        .extracting(NodeProto::getOpType)
        .containsExactly(
            "MatMul",
            "Add",
            "QuantizeLinear",
            "DequantizeLinear",
            "Div",
            "Erf",
            "Add",
            "Mul",
            "Mul",
            "MatMul");
    Path file = folder.resolve("q.onnx");
    Files.write(file, quantized.toByteArray());
    Tensor x = random(5, 3, SIZE);
    float[] exact = run(model.model().path(), x);
    float[] found = run(file, x);
    assertThat(found).isNotEqualTo(exact);
    assertThat(found).usingComparatorWithPrecision(0.3f).containsExactly(exact);
  }

  private static float[] run(Path file, Tensor x) {
    return Evaluator.run(
            new OnnxImporter(ImportOptions.NONE).importModel(OnnxModel.read(file)).graph(),
            List.of(x))
        .getFirst()
        .floats();
  }
}
