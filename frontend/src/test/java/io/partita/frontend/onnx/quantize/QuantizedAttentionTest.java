package io.partita.frontend.onnx.quantize;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import ai.onnx.proto.OnnxMl.AttributeProto;
import ai.onnx.proto.OnnxMl.ModelProto;
import ai.onnx.proto.OnnxMl.NodeProto;
import ai.onnx.proto.OnnxMl.TensorProto;
import ai.onnx.proto.OnnxMl.ValueInfoProto;
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
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class QuantizedAttentionTest {
  private static final int SIZE = 4;
  private static final int PAST = 3;
  private static final int NEW = 2;
  private static final TensorType CACHE = TensorType.of(ElementType.F32, 1, 2, PAST, SIZE);

  private static final AttributeProto LAST =
      AttributeProto.newBuilder()
          .setName("perm")
          .setType(AttributeProto.AttributeType.INTS)
          .addAllInts(List.of(0L, 1L, 3L, 2L))
          .build();

  @TempDir Path folder;

  private static Tensor random(int seed, Shape shape) {
    Random random = new Random(seed);
    float[] values = new float[(int) shape.elements()];
    for (int i = 0; i < values.length; i++) {
      values[i] = (float) random.nextGaussian() / 2;
    }
    return Tensor.floats(shape, values);
  }

  /** Queries, keys and values of some tokens, of which the latter two are appended to caches. */
  private QuantizableModel model() {
    return model(sketch -> sketch.node("", "Transpose", List.of("key"), "turned", LAST));
  }

  /**
   * @param turn adds nodes that turn keys
   */
  private QuantizableModel model(Consumer<ModelSketch> turn) {
    Shape matrix = Shape.of(SIZE, SIZE);
    ModelSketch sketch =
        new ModelSketch(17)
            .input("x", TensorType.of(ElementType.F32, 1, 2, NEW, SIZE))
            .input("past_key", CACHE)
            .input("past_value", CACHE)
            .initializer("wq", random(1, matrix))
            .initializer("wk", random(2, matrix))
            .initializer("wv", random(3, matrix))
            .initializer("half", Tensor.scalar(ElementType.F32, 0.5))
            .node("", "MatMul", List.of("x", "wq"), "q")
            .node("", "MatMul", List.of("x", "wk"), "k")
            .node("", "MatMul", List.of("x", "wv"), "v")
            .node("", "Concat", List.of("past_key", "k"), "key", ModelSketch.integer("axis", 2))
            .node(
                "", "Concat", List.of("past_value", "v"), "value", ModelSketch.integer("axis", -2));
    turn.accept(sketch);
    sketch
        .node("", "MatMul", List.of("q", "turned"), "products")
        .node("", "Mul", List.of("products", "half"), "scores")
        .node("", "Softmax", List.of("scores"), "weights", ModelSketch.integer("axis", -1))
        .node("", "MatMul", List.of("weights", "value"), "y");
    for (String name : List.of("key", "value")) {
      sketch.output(name, TensorType.of(ElementType.F32, 1, 2, PAST + NEW, SIZE));
    }
    sketch.output("y", TensorType.of(ElementType.F32, 1, 2, NEW, SIZE));
    return QuantizableModel.of(OnnxModel.read(sketch.written(folder)));
  }

  private static List<String> types(List<ValueInfoProto> values) {
    return values.stream()
        .map(
            value ->
                value.getName()
                    + " "
                    + TensorProto.DataType.forNumber(value.getType().getTensorType().getElemType()))
        .toList();
  }

  private List<Tensor> run(Path file, List<Tensor> inputs) {
    return Evaluator.run(
        new OnnxImporter(ImportOptions.NONE).importModel(OnnxModel.read(file)).graph(), inputs);
  }

  @Test
  void cachesBecomeBytes() throws IOException {
    cachesBecomeBytes(model());
  }

  /** As PyTorch exports scaled_dot_product_attention. */
  @Test
  void cachesOfKeysThatAreScaledBecomeBytes() throws IOException {
    cachesBecomeBytes(
        model(
            sketch ->
                sketch
                    .node("", "Transpose", List.of("key"), "columns", LAST)
                    .node("", "Mul", List.of("columns", "half"), "turned")));
  }

  /** Keys and values of an attention have the same type, so one cache can't be of integers. */
  @Test
  void attentionsOverOtherUsesOfThePastStayFloat() {
    QuantizableModel model =
        model(
            sketch ->
                sketch
                    .node("", "Transpose", List.of("key"), "columns", LAST)
                    .node("", "Relu", List.of("columns"), "turned"));
    assertThat(model.attentions()).isEmpty();
  }

  private void cachesBecomeBytes(QuantizableModel model) throws IOException {
    AttentionSite site = model.attentions().getFirst();
    assertThat(site.measured()).extracting(AttentionSite.Use::value).containsExactly("q", "k", "v");
    Affine code = Affine.of(-4, 4).centred();
    ModelProto quantized =
        QuantizedGraph.of(
            model,
            Map.of(),
            Map.of(),
            List.of(new QuantizedGraph.AttentionChoice(site, List.of(code, code, code))),
            List.of());
    assertThat(types(quantized.getGraph().getInputList()))
        .containsExactly("x FLOAT", "past_key INT8", "past_value INT8");
    assertThat(types(quantized.getGraph().getOutputList()))
        .containsExactly("key INT8", "value INT8", "y FLOAT");
    assertThat(quantized.getGraph().getNodeList())
        .extracting(NodeProto::getOpType)
        .filteredOn(operator -> operator.equals("QuantizeLinear"))
        .hasSize(4);
    Path file = folder.resolve("q.onnx");
    Files.write(file, quantized.toByteArray());
    Tensor x = random(5, Shape.of(1, 2, NEW, SIZE));
    List<Tensor> caches = List.of(bytes(6), bytes(7));
    List<Tensor> exact =
        run(model.model().path(), List.of(x, real(caches.get(0), code), real(caches.get(1), code)));
    List<Tensor> found = run(file, List.of(x, caches.get(0), caches.get(1)));
    assertThat(found.getFirst().element()).isEqualTo(ElementType.I8);
    assertThat(Arrays.copyOf(found.getFirst().longs(), 2))
        .isEqualTo(Arrays.copyOf(caches.getFirst().longs(), 2));
    float[] expected = exact.get(2).floats();
    for (int i = 0; i < expected.length; i++) {
      assertThat(found.get(2).floats()[i]).isCloseTo(expected[i], within(0.1f));
    }
  }

  private static Tensor bytes(int seed) {
    long[] values = new Random(seed).longs(CACHE.shape().elements(), -60, 61).toArray();
    return Tensor.ofLongs(CACHE.with(ElementType.I8), values);
  }

  private static Tensor real(Tensor integers, Affine code) {
    double[] values = integers.doubles().clone();
    for (int i = 0; i < values.length; i++) {
      values[i] *= code.scale();
    }
    return Tensor.ofDoubles(CACHE, values);
  }

  @Test
  void productsWithMatricesAreNoAttention() {
    QuantizableModel model = model();
    assertThat(model.attentions()).hasSize(1);
    assertThat(model.products()).hasSize(3);
  }
}
