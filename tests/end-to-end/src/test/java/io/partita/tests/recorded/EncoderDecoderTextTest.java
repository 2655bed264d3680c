package io.partita.tests.recorded;

import static org.assertj.core.api.Assertions.assertThat;

import ai.onnxruntime.OrtException;
import io.partita.backend.emitted.run.Build;
import io.partita.backend.emitted.run.Port;
import io.partita.backend.java.DeviceHosting;
import io.partita.driver.Compilation;
import io.partita.driver.Distribution;
import io.partita.driver.JavaTarget;
import io.partita.driver.Sharding;
import io.partita.driver.cases.NamedArrays;
import io.partita.driver.chip.ChipTarget;
import io.partita.driver.npz.Npz;
import io.partita.driver.text.ChipModel;
import io.partita.driver.text.CompiledModel;
import io.partita.driver.text.JavaModel;
import io.partita.driver.text.LanguageModel;
import io.partita.frontend.onnx.OnnxModel;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.Dim;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Decoders with cross-attention to an encoder's keys and values, which are the same at each run,
 * write the same text as ONNX Runtime.
 */
@Timeout(300)
class EncoderDecoderTextTest {
  private static final long CAPACITY = 12;
  private static final long ENCODED = 7;
  private static final int START = 2;

  @TempDir Path folder;

  @ParameterizedTest
  @ValueSource(strings = {"t5_decoder_past", "marian_decoder_past", "bart_decoder_merged_if"})
  void javaWrites(String name) throws IOException, OrtException {
    Path model = model(name);
    Path out = folder.resolve("java");
    compilation().compile(request(model), Optional.empty(), JavaTarget.USUAL, out);
    verify(model, new JavaModel(out, new DeviceHosting.Threads()), out);
  }

  @Tag("thorough")
  @ParameterizedTest(name = "{0} on {1} chips")
  @CsvSource("bart_decoder_merged_if, 1")
  void chipsWrite(String name, int chips) throws IOException, OrtException {
    EmittedC.requireCompiler();
    Path model = model(name);
    Path out = folder.resolve("chips");
    ChipTarget target = ChipTarget.of("siracusa:chips=" + chips, Map.of());
    compilation()
        .compile(request(model), Distribution.strategy(chips, null).map(Sharding::of), target, out);
    Build.run(out, Port.HOST, List.of());
    verify(model, new ChipModel(out, Port.HOST, List.of(), Duration.ofMinutes(2)), out);
  }

  @Tag("exhaustive")
  @ParameterizedTest(name = "{0} on {1} chips")
  @CsvSource({
    "t5_decoder_past, 1",
    "t5_decoder_past, 2",
    "marian_decoder_past, 1",
    "marian_decoder_past, 2",
    "bart_decoder_merged_if, 2"
  })
  void otherChipsWrite(String name, int chips) throws IOException, OrtException {
    chipsWrite(name, chips);
  }

  private static Path model(String name) {
    return SharedFolder.require("user-models/" + name, "see its README for the exporters");
  }

  private static Compilation compilation() {
    return new Compilation(note -> {}, step -> {});
  }

  private static Compilation.Request request(Path model) {
    Map<String, Long> dims =
        Map.of("encoder_sequence_length", ENCODED, "encoder_sequence_length_out", ENCODED);
    return new Compilation.Request(
        model.resolve("network.onnx"),
        dims,
        Map.of(),
        null,
        OptionalLong.empty(),
        OptionalLong.of(CAPACITY));
  }

  private void verify(Path model, CompiledModel program, Path out)
      throws IOException, OrtException {
    Map<String, Tensor> encoded = encoded(model);
    Path archive = folder.resolve("encoded.npz");
    try (var file = Files.newOutputStream(archive)) {
      Npz.write(encoded, file);
    }
    Map<String, Tensor> given =
        NamedArrays.read(archive)
            .matching(
                program.description().inputs().stream()
                    .map(port -> new NamedArrays.Wanted(port.name(), port.type()))
                    .toList());
    List<float[]> expected = new ArrayList<>();
    List<Integer> tokens = expected(model, encoded, expected);
    try (program;
        LanguageModel decoder = new LanguageModel(program, out, given)) {
      for (int i = 0; i < expected.size(); i++) {
        float[] logits = decoder.next(tokens.subList(0, i + 1));
        assertThat(logits).usingComparatorWithPrecision(1e-3f).containsExactly(expected.get(i));
        assertThat(LanguageModel.argMax(logits)).isEqualTo(tokens.get(i + 1));
      }
    }
  }

  /** The recorded outputs of the encoder, for the first sequence of the batch. */
  private static Map<String, Tensor> encoded(Path model) {
    Map<String, Tensor> encoded = new HashMap<>();
    Npz.read(model.resolve("inputs.npz"))
        .forEach(
            (name, data) -> {
              if (name.contains("encoder") && !name.contains("decoder")) {
                encoded.put(name, first(data));
              } else if (name.contains(".encoder.")) {
                // The names of the decoder's first step, which computes them.
                encoded.put(name.replace("past_key_values", "present"), first(data));
              }
            });
    return encoded;
  }

  private static Tensor first(Tensor batch) {
    TensorType type = batch.type().with(batch.shape().with(0, Dim.ONE));
    int size = Math.toIntExact(type.shape().elements());
    double[] values = new double[size];
    for (int i = 0; i < size; i++) {
      values[i] = batch.getDouble(i);
    }
    return Tensor.ofDoubles(type, values);
  }

  /** ONNX Runtime's tokens from an empty cache, and the logits of each step. */
  private static List<Integer> expected(
      Path model, Map<String, Tensor> encoded, List<float[]> logits) throws OrtException {
    Map<String, Tensor> inputs = new HashMap<>();
    OnnxModel.read(model.resolve("network.onnx"))
        .inputTypes()
        .forEach((name, type) -> inputs.put(name, initial(type)));
    encoded.forEach((name, data) -> inputs.put(name.replace("present", "past_key_values"), data));
    List<Integer> tokens = new ArrayList<>(List.of(START));
    try (OnnxRuntime oracle = new OnnxRuntime(model.resolve("network.onnx"))) {
      for (int i = 0; i < CAPACITY; i++) {
        inputs.put("input_ids", Tensor.longs(Shape.of(1, 1), tokens.getLast()));
        Map<String, Tensor> outputs = oracle.run(inputs);
        outputs.forEach(
            (name, data) -> {
              if (name.contains(".decoder.")) {
                inputs.put(name.replace("present", "past_key_values"), data);
              }
            });
        double[] row = outputs.get("logits").doubles();
        float[] exact = new float[row.length];
        for (int at = 0; at < row.length; at++) {
          exact[at] = (float) row[at];
        }
        logits.add(exact);
        tokens.add(LanguageModel.argMax(exact));
      }
    }
    return tokens;
  }

  /** An empty cache, and true. */
  private static Tensor initial(TensorType type) {
    if (type.rank() == 4) {
      Shape shape = type.shape().with(0, Dim.ONE).with(2, Dim.ZERO);
      return Tensor.filled(type.with(shape), 0);
    }
    return Tensor.filled(new TensorType(ElementType.BOOL, Shape.of(1)), 1);
  }
}
