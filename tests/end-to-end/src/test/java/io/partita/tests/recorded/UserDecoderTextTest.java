package io.partita.tests.recorded;

import static org.assertj.core.api.Assertions.assertThat;

import io.partita.driver.Compilation;
import io.partita.driver.Distribution;
import io.partita.driver.Sharding;
import io.partita.driver.Target;
import io.partita.driver.cases.ModuleRunner;
import io.partita.driver.npz.Npz;
import io.partita.ir.graph.Module;
import io.partita.ir.graph.Value;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.TensorType;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Decoders as exported by users write, token by token, the same text as ONNX Runtime. */
@Timeout(600)
class UserDecoderTextTest {
  private static final String FOLDER = "user-models";
  private static final String HOW = "it comes with the project's shared data";

  /** The decoders with a recorded text. */
  private static Stream<String> all() throws IOException {
    try (Stream<Path> models = Files.list(SharedFolder.require(FOLDER, HOW))) {
      return models
          .filter(model -> Files.exists(model.resolve("greedy.txt")))
          .map(model -> model.getFileName().toString())
          .sorted()
          .toList()
          .stream();
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"bloom_past_untied", "gpt_bigcode_mqa_past", "genai_llama_fp32"})
  void javaWrites(String model) throws IOException {
    writes(model, Target.JAVA.runner());
  }

  @ParameterizedTest
  @ValueSource(strings = "mpt_past")
  void chipsWrite(String model) throws IOException {
    EmittedC.requireCompiler();
    writes(model, EmittedC.runner(Optional.empty()));
  }

  /** Decoders on one device and on two in turn. */
  static Stream<Arguments> decodersAndDevices() throws IOException {
    return inTurn(1);
  }

  static Stream<Arguments> decodersAndOtherDevices() throws IOException {
    return inTurn(0);
  }

  private static Stream<Arguments> inTurn(int parity) throws IOException {
    List<String> all = all().toList();
    return IntStream.range(0, all.size())
        .mapToObj(number -> Arguments.of(all.get(number), 1 + (number + parity) % 2));
  }

  @Tag("thorough")
  @ParameterizedTest(name = "{0} on {1} devices")
  @MethodSource("decodersAndDevices")
  void javaWritesAll(String model, int devices) throws IOException {
    writes(model, Target.JAVA.runner(Distribution.strategy(devices, null).map(Sharding::of)));
  }

  @Tag("exhaustive")
  @ParameterizedTest(name = "{0} on {1} devices")
  @MethodSource("decodersAndOtherDevices")
  void javaWritesAllOnOtherDevices(String model, int devices) throws IOException {
    javaWritesAll(model, devices);
  }

  @Tag("thorough")
  @ParameterizedTest(name = "{0} on {1} chips")
  @MethodSource("decodersAndDevices")
  void chipsWriteAll(String model, int chips) throws IOException {
    EmittedC.requireCompiler();
    writes(model, EmittedC.runner(Distribution.strategy(chips, null)));
  }

  @Tag("exhaustive")
  @ParameterizedTest(name = "{0} on {1} chips")
  @MethodSource("decodersAndOtherDevices")
  void otherChipsWriteAll(String model, int chips) throws IOException {
    chipsWriteAll(model, chips);
  }

  private static void writes(String name, ModuleRunner runner) throws IOException {
    Path folder = SharedFolder.require(FOLDER + "/" + name, HOW);
    long[] expected = Npz.read(folder.resolve("steps.npz")).get("tokens").longs();
    String prompt = Files.readString(folder.resolve("prompt.txt")).strip();
    int given = prompt.codePointCount(0, prompt.length());
    Module module =
        new Compilation(note -> {}, step -> {})
            .prepare(
                new Compilation.Request(
                    folder.resolve("network.onnx"), dims(folder), Map.of(), null));
    long[] tokens = expected.clone();
    try (ModuleRunner.Prepared program = runner.prepare(module)) {
      for (int i = 1; i < tokens.length; i++) {
        Tensor logits = program.run(inputs(module, tokens[i - 1], i - 1)).getFirst();
        tokens[i] = i < given ? tokens[i] : GreedyText.best(logits);
      }
    }
    assertThat(tokens).isEqualTo(expected);
  }

  /** A token and, if the program takes it, its position. */
  private static List<Tensor> inputs(Module module, long token, long position) {
    List<String> states = module.states().stream().map(Module.State::input).toList();
    List<Tensor> inputs = new ArrayList<>();
    for (Value input : module.graph().inputs()) {
      TensorType type = input.type();
      if (!states.contains(input.name())) {
        long value = input.name().equals("input_ids") ? token : position;
        inputs.add(Tensor.ofLongs(type, new long[] {value}));
      }
    }
    return inputs;
  }

  private static Map<String, Long> dims(Path folder) throws IOException {
    Map<String, Long> dims = new LinkedHashMap<>();
    for (String line : Files.readAllLines(folder.resolve("compile.args"))) {
      String[] parts = line.split("=");
      if (parts.length == 2) {
        dims.put(parts[0], Long.parseLong(parts[1]));
      }
    }
    return dims;
  }
}
