package io.partita.cli;

import static org.assertj.core.api.Assertions.assertThat;

import ai.onnx.proto.OnnxMl.GraphProto;
import ai.onnx.proto.OnnxMl.ModelProto;
import ai.onnx.proto.OnnxMl.TensorProto;
import com.google.protobuf.ByteString;
import io.partita.driver.OutputFile;
import io.partita.driver.npz.Npz;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Tests that models and data that can't be quantized are refused, and that nothing is written. */
@Timeout(120)
class QuantizeInputsTest {
  private static final Path FIXTURES = Invocation.ROOT.resolve("tests/fixtures");

  /** Images f32[1,3,16,16] to scores of 5 classes. */
  private static final Path IMAGES = FIXTURES.resolve("vit/ts_eager_static/network.onnx");

  /** Up to 32 tokens of 40. */
  private static final Path TEXT = FIXTURES.resolve("gpt2/ts_eager_dynamic_nomask/network.onnx");

  /** One token at a time, with a cache. */
  private static final Path DECODER = FIXTURES.resolve("gpt2/ts_sdpa_kv/network.onnx");

  /** Three inputs i64[batch,seq]. */
  private static final Path ENCODER = FIXTURES.resolve("bert/ts_eager_dynamic/network.onnx");

  private static final Shape PIXELS = Shape.of(2, 3, 16, 16);
  private static final int TOKENS = 40;

  @TempDir Path folder;

  /** Makes a file. */
  private interface Maker {
    void make(Path file) throws IOException;
  }

  /** Changes a weight. */
  private interface Change {
    float[] of(float[] values);
  }

  /**
   * A bad input.
   *
   * @param model makes the model
   * @param data makes the calibration data
   * @param code the diagnostic
   * @param parts what its lines contain
   */
  private record Bad(
      Maker model, Maker data, List<String> options, String code, List<String> parts) {
    Bad with(String... options) {
      return new Bad(model, data, List.of(options), code, parts);
    }
  }

  private static Named<Bad> bad(
      String name, Maker model, Maker data, String code, String... parts) {
    return Named.of(name, bad(model, data, code, parts));
  }

  private static Bad bad(Maker model, Maker data, String code, String... parts) {
    return new Bad(model, data, List.of(), code, List.of(parts));
  }

  private static Maker file(Path given) {
    return file -> Files.copy(given, file);
  }

  private static Maker arrays(Map<String, Tensor> arrays) {
    return file -> OutputFile.write(file, out -> Npz.write(arrays, out));
  }

  private static Maker tokens(long... shape) {
    int count = (int) Shape.of(shape).elements();
    long[] ids = IntStream.range(0, count).mapToLong(i -> i * 7L % TOKENS).toArray();
    return arrays(Map.of("calibration", Tensor.longs(Shape.of(shape), ids)));
  }

  private static Tensor normal(Shape shape) {
    Random random = new Random(3);
    float[] values = new float[(int) shape.elements()];
    for (int i = 0; i < values.length; i++) {
      values[i] = (float) random.nextGaussian();
    }
    return Tensor.of(new TensorType(ElementType.F32, shape), values);
  }

  /** Images of which one number is another. */
  private static Maker images(float number) {
    float[] values = normal(PIXELS).floats();
    values[800] = number;
    return arrays(
        Map.of("calibration", Tensor.of(new TensorType(ElementType.F32, PIXELS), values)));
  }

  private static Maker images(Shape shape) {
    return arrays(Map.of("calibration", normal(shape)));
  }

  /** A model of which the weights of the last node of a kind are changed, from an operand on. */
  private static Maker changed(Path given, String operator, int operand, Change change) {
    return file -> {
      ModelProto model = ModelProto.parseFrom(Files.readAllBytes(given));
      GraphProto.Builder graph = model.getGraph().toBuilder();
      List<String> names =
          graph.getNodeList().stream()
              .filter(node -> node.getOpType().equals(operator))
              .map(node -> node.getInputList().subList(operand, node.getInputCount()))
              .reduce((one, other) -> other)
              .orElseThrow();
      for (int i = 0; i < graph.getInitializerCount(); i++) {
        TensorProto tensor = graph.getInitializer(i);
        if (names.contains(tensor.getName())) {
          graph.setInitializer(i, changed(tensor, change));
        }
      }
      Files.write(file, model.toBuilder().setGraph(graph).build().toByteArray());
    };
  }

  private static TensorProto changed(TensorProto tensor, Change change) {
    float[] values = new float[tensor.getRawData().size() / 4];
    ByteBuffer.wrap(tensor.getRawData().toByteArray())
        .order(ByteOrder.LITTLE_ENDIAN)
        .asFloatBuffer()
        .get(values);
    ByteBuffer bytes = ByteBuffer.allocate(4 * values.length).order(ByteOrder.LITTLE_ENDIAN);
    bytes.asFloatBuffer().put(change.of(values));
    return tensor.toBuilder().setRawData(ByteString.copyFrom(bytes.array())).build();
  }

  private static Change second(float number) {
    return values -> {
      values[1] = number;
      return values;
    };
  }

  private static float[] tiny(float[] values) {
    float[] tiny = new float[values.length];
    Arrays.fill(tiny, Float.MIN_VALUE);
    return tiny;
  }

  static Stream<Named<Bad>> badData() {
    Maker text = file(TEXT);
    Maker images = file(IMAGES);
    return Stream.of(
        bad(
            "another name",
            text,
            arrays(Map.of("train", Tensor.longs(Shape.of(1, 2), 1, 2))),
            "P6201",
            "an array named 'calibration'",
            "the arrays train",
            "--array train"),
        bad(
            "channels last",
            images,
            images(Shape.of(2, 16, 16, 3)),
            "P6202",
            "array 'calibration'",
            "samples of [1,3,16,16], as the model takes f32[1,3,16,16]",
            "samples of [16,16,3]: f32[2,16,16,3]",
            "--array"),
        bad(
            "vectors",
            images,
            images(Shape.of(2, 768)),
            "P6202",
            "samples of [768]: f32[2,768]",
            "in their shape"),
        bad("tokens for images", images, tokens(2, 8), "P6202", "samples of [8]: i64[2,8]"),
        bad(
            "images for tokens",
            text,
            images(PIXELS),
            "P6202",
            "sequences of at least 2 token ids, integers [n, length]",
            "f32[2,3,16,16]"),
        bad(
            "too long",
            text,
            tokens(2, 45),
            "P6202",
            "sequences that are no longer than those that the model takes",
            "45 tokens in each sequence",
            "choose --dim seq=32, which cuts sequences into windows"),
        bad(
            "too long for the cache",
            file(DECODER),
            tokens(2, 45),
            "P6202",
            "45 tokens in each sequence",
            "choose --dim past=32, or less, which cuts sequences into windows"),
        bad(
            "another vocabulary",
            text,
            arrays(Map.of("calibration", Tensor.longs(Shape.of(1, 3), 1, 40, 2))),
            "P6202",
            "sample 0, token 1",
            "ids from 0 to 39, the model's vocabulary",
            "found:     40"),
        bad("NaN", images, images(Float.NaN), "P6202", "sample 1, element 32", "NaN"),
        bad(
            "infinite",
            images,
            images(Float.POSITIVE_INFINITY),
            "P6202",
            "sample 1, element 32",
            "Infinity"),
        bad(
            "an empty file",
            text,
            file -> Files.write(file, new byte[0]),
            "P6003",
            "a NumPy archive (.npz)",
            "a damaged archive"),
        bad("no samples", text, tokens(0, 8), "P6202", "at least one sample", "i64[0,8]"),
        bad("no tokens", text, tokens(2, 1), "P6202", "sequences of at least 2 token ids"),
        bad(
            "ranges of calibrate",
            text,
            file -> Files.writeString(file, "{\"partita\": \"calibration\"}"),
            "P6003",
            "a NumPy archive (.npz)"));
  }

  /** The inputs of the encoder, of which some are other arrays. */
  private static Maker inputs(Map<String, Tensor> others) {
    Map<String, Tensor> all = new LinkedHashMap<>();
    for (String name : List.of("input_ids", "attention_mask", "token_type_ids")) {
      all.put(name, Tensor.filled(TensorType.of(ElementType.I64, 2, 11), 1));
    }
    all.putAll(others);
    return arrays(all);
  }

  private static Tensor ones(ElementType element, long... extents) {
    return Tensor.filled(TensorType.of(element, extents), 1);
  }

  static Stream<Named<Bad>> badInputs() {
    Maker encoder = file(ENCODER);
    Tensor mask = ones(ElementType.I64, 2, 11);
    return Stream.of(
        bad(
            "no input's name",
            encoder,
            arrays(Map.of("ids", mask)),
            "P6201",
            "an array named 'calibration', or arrays named as the model's inputs: input_ids,"
                + " attention_mask, token_type_ids",
            "the arrays ids"),
        bad(
            "no array for an input",
            encoder,
            arrays(Map.of("input_ids", mask, "attention_mask", mask)),
            "P6004",
            "input_ids, attention_mask, token_type_ids",
            "none named token_type_ids"),
        bad(
            "another rank",
            encoder,
            inputs(Map.of("attention_mask", ones(ElementType.I64, 22))),
            "P6202",
            "array 'attention_mask'",
            "at least one sample of [1,seq]",
            "i64[22]",
            "token_type_ids: i64[batch,seq]"),
        bad(
            "another length",
            encoder,
            inputs(Map.of("attention_mask", ones(ElementType.I64, 2, 10))),
            "P6202",
            "array 'attention_mask'",
            "seq = 11 in all inputs",
            "samples of [1,10]"),
        bad(
            "another number of samples",
            encoder,
            inputs(Map.of("attention_mask", ones(ElementType.I64, 3, 11))),
            "P6202",
            "as many samples in each array",
            "2 of input_ids, 3 of attention_mask"),
        bad(
            "no samples of an input",
            encoder,
            inputs(Map.of("attention_mask", ones(ElementType.I64, 0, 11))),
            "P6202",
            "array 'attention_mask'",
            "at least one sample",
            "i64[0,11]"),
        bad(
            "fractions of tokens",
            encoder,
            inputs(Map.of("input_ids", Tensor.filled(TensorType.of(ElementType.F32, 2, 11), 1.5))),
            "P6004",
            "'input_ids'",
            "values that i64 holds",
            "1.5 in an array of f32"),
        bad(
            "NaN in an input",
            file(IMAGES),
            arrays(
                Map.of(
                    "pixel_values",
                    Tensor.filled(TensorType.of(ElementType.F32, 3, 16, 16), Double.NaN))),
            "P6202",
            "array 'pixel_values', element 0",
            "NaN"),
        Named.of(
            "scaled inputs",
            bad(encoder, inputs(Map.of()), "P6202", "inputs as the model takes them", "mean")
                .with("--mean=0.5")));
  }

  static Stream<Named<Bad>> badModels() {
    Maker data = tokens(2, 8);
    return Stream.of(
        bad(
            "NaN in a matrix",
            changed(IMAGES, "Gemm", 1, second(Float.NaN)),
            images(PIXELS),
            "P6309",
            "element 1",
            "a finite number",
            "NaN",
            "--float "),
        bad(
            "an infinite bias",
            changed(IMAGES, "Gemm", 2, second(Float.NEGATIVE_INFINITY)),
            images(PIXELS),
            "P6309",
            "element 1",
            "-Infinity"),
        bad(
            "NaN in a norm",
            changed(TEXT, "LayerNormalization", 1, second(Float.NaN)),
            data,
            "P6303",
            "value \"",
            "finite numbers on all calibration data",
            "NaN",
            "that the float model works"),
        bad(
            "only zeros",
            changed(TEXT, "LayerNormalization", 1, values -> new float[values.length]),
            data,
            "P6303",
            "numbers other than 0",
            "only 0"),
        bad(
            "numbers too small for steps",
            changed(TEXT, "LayerNormalization", 1, QuantizeInputsTest::tiny),
            data,
            "P6303",
            "a range that has 255 steps",
            "a range without any, of numbers from -",
            "choose --range minmax"),
        bad(
            "integers",
            file(FIXTURES.resolve("quantized/llama_qdq/network.onnx")),
            data,
            "P6301",
            "a model of floats",
            "quantize the float model that it was made from"));
  }

  static Stream<Named<Bad>> badOptions() {
    Maker data = tokens(2, 8);
    Maker text = file(TEXT);
    return Stream.of(
        Named.of(
            "groups",
            bad(text, data, "P6304", "rows in groups of 16", "24 rows", "--group")
                .with("--weights=int4", "--group=16")),
        Named.of(
            "a node of another kind",
            bad(text, data, "P6306", "--float Softmax", "an attention's second product")
                .with("--float=Softmax")),
        Named.of(
            "no attention left",
            bad(text, data, "P6307", "--float for each of them", "leave out --attention int8")
                .with(
                    "--attention=int8",
                    "--float=/model/transformer/h.0/attn/MatMul_1",
                    "--float=/model/transformer/h.1/attn/MatMul_1")));
  }

  @ParameterizedTest
  @MethodSource({"badData", "badInputs", "badModels", "badOptions"})
  void isRefused(Bad bad) throws IOException {
    Path model = folder.resolve("model.onnx");
    Path data = folder.resolve("data.npz");
    bad.model().make(model);
    bad.data().make(data);
    Object[] command = {
      "quantize", model, "--calibration", data, "-o", folder.resolve("q.onnx"), "--samples=2"
    };
    Invocation run =
        Invocation.of(Stream.concat(Arrays.stream(command), bad.options().stream()).toArray());
    assertThat(run.exitCode()).as(run.out() + run.err()).isEqualTo(ExitCode.USER_ERROR);
    assertThat(run.err())
        .contains("error " + bad.code() + ": ", "where: ", "expected: ", "found: ", "fix: ")
        .contains(bad.parts());
    try (Stream<Path> files = Files.list(folder)) {
      assertThat(files).containsExactlyInAnyOrder(model, data);
    }
  }
}
