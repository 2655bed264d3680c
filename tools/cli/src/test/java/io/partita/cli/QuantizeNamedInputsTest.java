package io.partita.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import ai.onnx.proto.OnnxMl.GraphProto;
import ai.onnx.proto.OnnxMl.ModelProto;
import ai.onnx.proto.OnnxMl.NodeProto;
import ai.onnx.proto.OnnxMl.OperatorSetIdProto;
import ai.onnx.proto.OnnxMl.TensorProto;
import ai.onnx.proto.OnnxMl.ValueInfoProto;
import io.partita.driver.OutputFile;
import io.partita.driver.npz.Npz;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests quantization on arrays that are named as the inputs of a model. */
@Timeout(120)
class QuantizeNamedInputsTest {
  private static final Path FIXTURES = Invocation.ROOT.resolve("tests/fixtures");

  /** Three inputs i64[batch,seq], recorded for a batch of 3. */
  private static final Path ENCODER = FIXTURES.resolve("bert/ts_eager_dynamic");

  /** Three inputs i64[2,8]. */
  private static final Path STATIC = FIXTURES.resolve("bert/ts_eager_static");

  /** One token for each of several sequences, with a mask, positions and caches. */
  private static final Path DECODER = FIXTURES.resolve("llama/ts_eager_kv");

  @TempDir Path folder;

  private Invocation quantize(Path model, Path data, Object... more) {
    List<Object> arguments =
        new ArrayList<>(
            List.of(
                "quantize",
                model.resolve("network.onnx"),
                "--calibration",
                data,
                "-o",
                folder.resolve("q.onnx"),
                "--json"));
    arguments.addAll(List.of(more));
    Invocation run = Invocation.of(arguments.toArray());
    assertThat(run.exitCode()).as(run.err()).isZero();
    return run;
  }

  private Path changed(Path model, UnaryOperator<Map<String, Tensor>> change) {
    Path file = folder.resolve("data.npz");
    Map<String, Tensor> arrays = new LinkedHashMap<>(Npz.read(model.resolve("inputs.npz")));
    OutputFile.write(file, out -> Npz.write(change.apply(arrays), out));
    return file;
  }

  private static double number(Invocation run, String field) {
    return ((Number) run.json().get(field)).doubleValue();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "bert/dynamo_sdpa_static",
        "bert/ts11_eager_static",
        "distilbert/ts_eager_dynamic",
        "gpt2/ts_eager_static",
        "llama/ts_eager_kv_static",
        "native/hand24_static_cache",
        "optimized/hand_llama_gqa_prefill",
        "optimized/llama_dynamo_kv_tool"
      })
  void allKindsOfInputsAreTaken(String name) {
    Path model = FIXTURES.resolve(name);
    Invocation run = quantize(model, model.resolve("inputs.npz"));
    assertThat(number(run, "outputError")).isBetween(0.0001, 0.1);
    assertThat(number(run, "value") / number(run, "exact")).isBetween(0.9, 1.1);
    assertThat((List<?>) run.json().get("layers")).isNotEmpty();
  }

  @Test
  void aDynamicBatchCountsSamplesUnlessItIsGiven() {
    Path data = ENCODER.resolve("inputs.npz");
    Invocation single = quantize(ENCODER, data);
    assertThat(number(single, "samples")).isEqualTo(3);
    Invocation batch = quantize(ENCODER, data, "--dim", "batch=3");
    assertThat(number(batch, "samples")).isEqualTo(1);
    assertThat(number(batch, "exact")).isCloseTo(number(single, "exact"), within(1e-6));
    Invocation text =
        Invocation.of(
            "quantize",
            ENCODER.resolve("network.onnx"),
            "--calibration",
            data,
            "-o",
            folder.resolve("q.onnx"));
    assertThat(text.out())
        .containsPattern(
            "output RMS on 3 calibration samples: \\d.\\d{4}, of the float model \\d.\\d{4};"
                + " error of the outputs \\d.\\d\\d%, SQNR \\d\\d.\\d dB");
  }

  @Test
  void samplesFollowEachOtherOrHaveTheirOwnDimension() {
    Invocation one = quantize(STATIC, STATIC.resolve("inputs.npz"));
    assertThat(number(one, "samples")).isEqualTo(1);
    Path rows = changed(STATIC, arrays -> repeated(arrays, Shape.of(4, 8)));
    Invocation inRows = quantize(STATIC, rows);
    Path stacked = changed(STATIC, arrays -> repeated(arrays, Shape.of(2, 2, 8)));
    Invocation inStack = quantize(STATIC, stacked);
    assertThat(number(inRows, "samples")).isEqualTo(2);
    assertThat(number(inStack, "samples")).isEqualTo(2);
    assertThat(inRows.json().get("layers")).isEqualTo(inStack.json().get("layers"));
    assertThat(number(inRows, "outputError")).isCloseTo(number(one, "outputError"), within(0.02));
  }

  /** Every array twice, of which the types become narrower; one serves all samples. */
  private static Map<String, Tensor> repeated(Map<String, Tensor> arrays, Shape shape) {
    Map<String, Tensor> all = new LinkedHashMap<>();
    arrays.forEach(
        (name, array) -> {
          long[] once = array.longs();
          long[] twice = Arrays.copyOf(once, 2 * once.length);
          System.arraycopy(once, 0, twice, once.length, once.length);
          Tensor both = Tensor.ofLongs(array.type().with(shape).with(ElementType.I32), twice);
          all.put(name, name.equals("attention_mask") ? array : both);
        });
    return all;
  }

  @Test
  void cachesComeFromTheFileOrAreEmpty() {
    Invocation given = quantize(DECODER, DECODER.resolve("inputs.npz"));
    Path data =
        changed(
            DECODER,
            arrays -> {
              arrays.keySet().retainAll(Set.of("input_ids", "attention_mask", "position_ids"));
              long batch = arrays.get("input_ids").shape().extent(0);
              Tensor mask = Tensor.filled(arrays.get("input_ids").type(), 1);
              assertThat(mask.shape()).isEqualTo(Shape.of(batch, 1));
              arrays.put("attention_mask", mask);
              return arrays;
            });
    Invocation empty = quantize(DECODER, data);
    assertThat(number(empty, "samples")).isEqualTo(number(given, "samples"));
    assertThat(number(empty, "outputError")).isBetween(0.0001, 0.1);
    assertThat(number(empty, "exact")).isNotEqualTo(number(given, "exact"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"llama/ts_eager_kv", "llama/ts_eager_kv_static"})
  void cachesBecomeIntegersWithTheirArrays(String name) {
    Path model = FIXTURES.resolve(name);
    Invocation run = quantize(model, model.resolve("inputs.npz"), "--attention=int8");
    assertThat((List<?>) run.json().get("attentions")).isNotEmpty();
    assertThat(number(run, "outputError")).isBetween(0.0001, 0.1);
    assertThat(number(run, "value") / number(run, "exact")).isBetween(0.95, 1.05);
    assertThat(Invocation.of("inspect", folder.resolve("q.onnx")).out()).contains("i8[");
  }

  /** A product f32[2,4], reshaped to an input. */
  private Path reshaped() throws IOException {
    float[] weights = {1, 2, 3, 4, 5, 6, 7, 8, -1, -2, -3, -4, -5, -6, -7, 9};
    TensorProto.Builder matrix =
        TensorProto.newBuilder()
            .setName("w")
            .setDataType(TensorProto.DataType.FLOAT.getNumber())
            .addDims(4)
            .addDims(4);
    for (float weight : weights) {
      matrix.addFloatData(weight);
    }
    GraphProto.Builder graph =
        GraphProto.newBuilder()
            .setName("reshaped")
            .addInput(info("x", TensorProto.DataType.FLOAT, 2, 4))
            .addInput(info("shape", TensorProto.DataType.INT64, 2))
            .addInitializer(matrix)
            .addNode(node("MatMul", "x", "w", "product"))
            .addNode(node("Reshape", "product", "shape", "y"))
            .addOutput(ValueInfoProto.newBuilder().setName("y"));
    ModelProto model =
        ModelProto.newBuilder()
            .setIrVersion(8)
            .addOpsetImport(OperatorSetIdProto.newBuilder().setVersion(17))
            .setGraph(graph)
            .build();
    return Files.write(folder.resolve("network.onnx"), model.toByteArray());
  }

  private static ValueInfoProto info(String name, TensorProto.DataType element, long... extents) {
    ValueInfoProto.Builder info = ValueInfoProto.newBuilder().setName(name);
    for (long extent : extents) {
      info.getTypeBuilder()
          .getTensorTypeBuilder()
          .setElemType(element.getNumber())
          .getShapeBuilder()
          .addDimBuilder()
          .setDimValue(extent);
    }
    return info.build();
  }

  private static NodeProto node(String operator, String left, String right, String result) {
    return NodeProto.newBuilder()
        .setOpType(operator)
        .setName(result)
        .addInput(left)
        .addInput(right)
        .addOutput(result)
        .build();
  }

  private Path shapes(Tensor... shape) {
    Path file = folder.resolve("data.npz");
    float[] numbers = {1, -1, 2, -2, 3, -3, 4, -4, 1, 1, -2, 2, 3, 3, -4, 5};
    Map<String, Tensor> arrays = new LinkedHashMap<>();
    arrays.put("x", Tensor.floats(Shape.of(2, 2, 4), numbers));
    List.of(shape).forEach(each -> arrays.put("shape", each));
    OutputFile.write(file, out -> Npz.write(arrays, out));
    return file;
  }

  @Test
  void shapesThatAreInputsAreTheSameInAllSamples() throws IOException {
    Path model = reshaped();
    Invocation one = quantize(folder, shapes(Tensor.longs(Shape.of(2), 4, 2)));
    assertThat(number(one, "samples")).isEqualTo(2);
    Invocation each = quantize(folder, shapes(Tensor.longs(Shape.of(2, 2), 4, 2, 4, 2)));
    assertThat(number(each, "outputError")).isEqualTo(number(one, "outputError"));
    Invocation bound = quantize(folder, shapes(), "--bind", "shape=4,2");
    assertThat(number(bound, "outputError")).isEqualTo(number(one, "outputError"));
    Path other = shapes(Tensor.longs(Shape.of(2, 2), 4, 2, 2, 4));
    Invocation refused =
        Invocation.of("quantize", model, "--calibration", other, "-o", folder.resolve("r.onnx"));
    assertThat(refused.exitCode()).isEqualTo(ExitCode.USER_ERROR);
    assertThat(refused.err())
        .contains(
            "error P6202",
            "array 'shape', sample 1",
            "the value of the first sample, since it determines shapes");
  }

  @Test
  void otherArraysAreNoted() {
    Path data =
        changed(
            ENCODER,
            arrays -> {
              arrays.put("labels", Tensor.longs(Shape.of(3), 0, 1, 0));
              return arrays;
            });
    assertThat(quantize(ENCODER, data).err())
        .contains(
            "note P6031",
            "arrays for the program's inputs: input_ids, attention_mask, token_type_ids",
            "labels");
  }

  @Test
  void commandsQuantizeWhatTheyRead() {
    String options = "calibration=" + ENCODER.resolve("inputs.npz");
    for (List<String> given :
        List.of(
            List.of("--quantize", options),
            List.of("--passes", "quantize(" + options + "),simplify,raise,simplify"))) {
      Invocation run =
          Invocation.of(
              "compile",
              ENCODER.resolve("network.onnx"),
              given.getFirst(),
              given.getLast(),
              "--target=java",
              "--dim",
              "seq=11",
              "-o",
              folder.resolve("out" + given.getFirst()));
      assertThat(run.exitCode()).as(run.err()).isZero();
      assertThat(run.err())
          .contains("note P6310", "products of integers; output RMS on 3 calibration samples")
          .contains("error of the outputs");
    }
  }
}
