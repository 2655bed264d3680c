package io.partita.backend.metalium;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.partita.backend.emitted.probe.ProbeComparison;
import io.partita.ir.eval.Evaluator;
import io.partita.ir.file.EmittedFile;
import io.partita.ir.file.OutputFolder;
import io.partita.ir.golden.GoldenFile;
import io.partita.ir.graph.Module;
import io.partita.ir.graph.Value;
import io.partita.ir.target.TargetLibrary;
import io.partita.ir.tensor.Correlation;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.text.PirParser;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;
import io.partita.passes.program.localize.Localization;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests emitted kernels on the emulated chip against the reference evaluator. */
class EmittedKernelsTest {
  private static final Duration LIMIT = Duration.ofMinutes(2);

  @TempDir Path scratch;

  static Module feedForward(int tokens, String element) {
    return PirParser.parse(
        """
        pir 1
        module {
          graph @feed_forward(%x: f32[T,96], %gate: f32[96,160], %up: f32[96,160], %down: f32[160,96], %scale: f32[96]) -> ("y": f32[T,96]) {
            %8 = rms_norm(%x, %scale) {axis = 1, epsilon = 1.0E-5, scale} : f32[T,96] "norm"
            %0 = linear(%8, %gate) : f32[T,160] "gate"
            %1 = silu(%0) : f32[T,160] "silu"
            %2 = linear(%8, %up) : f32[T,160] "up"
            %3 = mul(%1, %2) : f32[T,160] "gated"
            %4 = linear(%3, %down) : f32[T,96] "down"
            %5 = add(%x, %4) : f32[T,96] "residual"
            %6 = softmax(%5) {axis = 1} : f32[T,96] "softmax"
            %7 = sub(%6, %5) : f32[T,96] "difference"
            return %7
          }
        }
        """
            .replaceAll("\\bT\\b", "" + tokens)
            .replace("f32", element));
  }

  static Module layerNorm(int tokens, int columns, boolean bias, String element) {
    String text =
        """
        pir 1
        module {
          graph @layer_norm(%x: f32[1,T,E], %scale: f32[E], %bias: f32[E]) -> ("y": f32[1,T,E]) {
            %0 = layer_norm(%x, %scale, %bias) {axis = 2, epsilon = 1.0E-5, scale, bias} : f32[1,T,E] "norm"
            %1 = relu(%0) : f32[1,T,E] "relu"
            %2 = sub(%x, %1) : f32[1,T,E] "y"
            return %2
          }
        }
        """;
    if (!bias) {
      text = text.replace(", %bias: f32[E]", "").replace(", %bias", "").replace(", bias}", "}");
    }
    return PirParser.parse(
        text.replaceAll("\\bT\\b", "" + tokens)
            .replaceAll("\\bE\\b", "" + columns)
            .replace("f32", element));
  }

  static Module attention(
      int tokens, int heads, int kvHeads, int size, int capacity, String element) {
    String text =
        """
        pir 1
        module {
          state "keys" -> "new_keys"
          state "values" -> "new_values"
          graph @attention(%x: f32[1,T,E], %k: f32[1,T,F], %v: f32[1,T,F], %cos: f32[P,H], %sin: f32[P,H], %position: i64[1], %ids: i64[T], %keys: f32[1,G,C,D], %values: f32[1,G,C,D]) -> ("y": f32[1,T,E], "new_keys": f32[1,G,C,D], "new_values": f32[1,G,C,D]) {
            %0 = reshape(%x) {to = [1, T, N, D]} : f32[1,T,N,D] "split"
            %1 = transpose(%0) {permutation = [0, 2, 1, 3]} : f32[1,N,T,D] "heads"
            %2 = reshape(%k) {to = [1, T, G, D]} : f32[1,T,G,D] "split_k"
            %3 = transpose(%2) {permutation = [0, 2, 1, 3]} : f32[1,G,T,D] "heads_k"
            %4 = reshape(%v) {to = [1, T, G, D]} : f32[1,T,G,D] "split_v"
            %5 = transpose(%4) {permutation = [0, 2, 1, 3]} : f32[1,G,T,D] "heads_v"
            %6 = embedding(%cos, %ids) : f32[T,H] "cos"
            %7 = reshape(%6) {to = [1, T, H]} : f32[1,T,H] "cosines"
            %8 = embedding(%sin, %ids) : f32[T,H] "sin"
            %9 = reshape(%8) {to = [1, T, H]} : f32[1,T,H] "sines"
            %10 = rotary_embedding(%1, %7, %9) : f32[1,N,T,D] "rotated"
            %11 = rotary_embedding(%3, %7, %9) : f32[1,G,T,D] "rotated_k"
            %12 = cache_update(%keys, %11, %position) {axis = 2} : f32[1,G,C,D] "new_keys"
            %13 = cache_update(%values, %5, %position) {axis = 2} : f32[1,G,C,D] "new_values"
            %14 = constant [T] : i64[1] "tokens"
            %15 = add(%position, %14) : i64[1] "length"
            %16 = attention(%10, %12, %13, %15) {scale = 0.25, soft_cap = 0.0, causal, offset = [0], window = 0, key_length} : f32[1,N,T,D] "attention"
            %17 = transpose(%16) {permutation = [0, 2, 1, 3]} : f32[1,T,N,D] "back"
            %18 = reshape(%17) {to = [1, T, E]} : f32[1,T,E] "y"
            return %18, %12, %13
          }
        }
        """;
    Map<String, Integer> extents =
        Map.of(
            "T",
            tokens,
            "N",
            heads,
            "G",
            kvHeads,
            "D",
            size,
            "C",
            capacity,
            "E",
            heads * size,
            "F",
            kvHeads * size,
            "H",
            size / 2,
            "P",
            capacity);
    for (Map.Entry<String, Integer> extent : extents.entrySet()) {
      text =
          text.replaceAll("(?<=[\\[, ])" + extent.getKey() + "(?=[\\],])", "" + extent.getValue());
    }
    return PirParser.parse(text.replace("f32", element));
  }

  static EmittedMetalium emit(Module module) {
    return emit(module, MetaliumOptions.STANDARD);
  }

  static EmittedMetalium emit(Module module, MetaliumOptions options) {
    return new MetaliumBackend(TargetLibrary.find("n150"), options)
        .emit(Localization.of(module, 1), Optional.empty());
  }

  @Test
  void kernelsOfABlockAreReadable() throws IOException {
    GoldenFile.of("feed-forward.golden").assertMatches("n150", text(feedForward(64, "f32")));
  }

  /** A product of one row of tiles, which the first core sends to all others. */
  static Module wide(int columns) {
    return PirParser.parse(
        """
        pir 1
        module {
          graph @wide(%x: f32[1,96], %w: f32[96,N], %r: f32[1,N]) -> ("y": f32[1,N]) {
            %0 = linear(%x, %w) : f32[1,N] "product"
            %1 = add(%0, %r) : f32[1,N] "y"
            return %1
          }
        }
        """
            .replaceAll("\\bN\\b", "" + columns));
  }

  @Test
  void kernelsThatShareAnOperandAreReadable() throws IOException {
    StringBuilder text = new StringBuilder();
    for (EmittedFile file : emit(wide(320)).files()) {
      if (file.path().matches("kernels/linear.*|emulation.cpp|model.py")) {
        text.append("// ").append(file.path()).append('\n').append(file.text()).append('\n');
      }
    }
    GoldenFile.of("shared-operand.golden").assertMatches("n150", text.toString());
  }

  /**
   * 2 of 72 cores, 10 of the 16 in a rectangle around them, and all of them, of which some have two
   * tiles. With one tile there is no other core.
   */
  @Tag("thorough")
  @ParameterizedTest
  @ValueSource(ints = 64)
  void sharedOperandsAgreeWithTheReference(int columns) {
    EmittedMetalium emitted = emit(wide(columns));
    assertThat(
            emitted.files().stream()
                .anyMatch(file -> file.path().equals("kernels/linear_mcast_x_add_reader.cpp")))
        .isEqualTo(columns > 32);
    assertAgrees(wide(columns), 0, 0.99999);
  }

  @Tag("exhaustive")
  @ParameterizedTest
  @ValueSource(ints = {32, 320, 2560})
  void moreSharedOperandsAgreeWithTheReference(int columns) {
    sharedOperandsAgreeWithTheReference(columns);
  }

  /** Columns in another order, some twice, of a matrix whose columns have numbers of two bytes. */
  static Module columns(String element) {
    return PirParser.parse(
        """
        pir 1
        module {
          graph @columns(%x: f32[2,20,300]) -> ("y": f32[2,20,35]) {
            %0 = constant NUMBERS : i64[35] "numbers"
            %1 = gather(%x, %0) {axis = 2} : f32[2,20,35] "chosen"
            return %1
          }
        }
        """
            .replace(
                "NUMBERS",
                LongStream.range(0, 35)
                    .map(i -> i % 7 == 3 ? -1 - i : i * 173 % 300)
                    .boxed()
                    .toList()
                    .toString())
            .replace("f32", element));
  }

  @Test
  void kernelsThatChooseColumnsAreReadable() throws IOException {
    GoldenFile.of("columns.golden").assertMatches("n150", text(columns("f32")));
  }

  @Tag("thorough")
  @ParameterizedTest
  @ValueSource(strings = "f32")
  void chosenColumnsAreCopied(String element) {
    Module module = columns(element);
    Path folder = scratch.resolve("program");
    EmittedMetalium emitted = emit(module);
    OutputFolder.write(emitted.files(), folder, path -> false);
    EmulatedProgram program = EmulatedProgram.build(folder, emitted.description().whole());
    List<Tensor> inputs = List.of(gaussian(new Random(4), module.graph().inputs().getFirst()));
    assertThat(program.run(inputs, LIMIT)).isEqualTo(Evaluator.run(module.graph(), inputs));
    assertLaunchesAgree(program, inputs);
  }

  @Tag("exhaustive")
  @ParameterizedTest
  @ValueSource(strings = "bf16")
  void chosenColumnsOfBf16AreCopied(String element) {
    chosenColumnsAreCopied(element);
  }

  @Test
  void kernelsOfAttentionAreReadable() throws IOException {
    GoldenFile.of("attention.golden")
        .assertMatches("n150", text(attention(1, 4, 2, 32, 96, "f32")));
  }

  @Test
  void kernelsOfALayerNormAreReadable() throws IOException {
    GoldenFile.of("layer-norm.golden").assertMatches("n150", text(layerNorm(40, 72, true, "f32")));
  }

  private static String text(Module module) throws IOException {
    StringBuilder text = new StringBuilder();
    for (EmittedFile file : emit(module).files()) {
      if (file.path().startsWith("kernels/") || file.path().equals("emulation.cpp")) {
        text.append("// ").append(file.path()).append('\n').append(file.text()).append('\n');
      }
    }
    return text.toString();
  }

  /** Source registers hold 11 bits of a significand, and bf16 has 8. */
  @Tag("thorough")
  @ParameterizedTest
  @CsvSource("40, bf16, 0.999")
  void blocksAgreeWithTheReference(int tokens, String element, double correlation) {
    assertAgrees(feedForward(tokens, element), 0, correlation);
  }

  @Tag("exhaustive")
  @ParameterizedTest
  @CsvSource({"64, f32, 0.99999", "1, f32, 0.99999"})
  void moreBlocksAgreeWithTheReference(int tokens, String element, double correlation) {
    blocksAgreeWithTheReference(tokens, element, correlation);
  }

  /** Rows whose last tile has padding, which counts neither for the mean nor for the variance. */
  @Tag("thorough")
  @ParameterizedTest
  @CsvSource("40, 72, true, f32, 0.99999")
  void layerNormsAgreeWithTheReference(
      int tokens, int columns, boolean bias, String element, double correlation) {
    assertAgrees(layerNorm(tokens, columns, bias, element), 0.5, correlation);
  }

  @Tag("exhaustive")
  @ParameterizedTest
  @CsvSource({
    "1, 192, true, f32, 0.99999",
    "33, 17, false, f32, 0.99999",
    "3, 100, true, bf16, 0.999"
  })
  void moreLayerNormsAgreeWithTheReference(
      int tokens, int columns, boolean bias, String element, double correlation) {
    layerNormsAgreeWithTheReference(tokens, columns, bias, element, correlation);
  }

  private void assertAgrees(Module module, double mean, double correlation) {
    Path folder = scratch.resolve("program");
    EmittedMetalium emitted = emit(module);
    OutputFolder.write(emitted.files(), folder, path -> false);
    List<Tensor> inputs = new ArrayList<>();
    Random random = new Random(7);
    for (Value input : module.graph().inputs()) {
      double[] values = new double[Math.toIntExact(input.type().shape().elements())];
      for (int i = 0; i < values.length; i++) {
        values[i] = mean + random.nextGaussian() / 4;
      }
      inputs.add(Tensor.ofDoubles(input.type(), values));
    }
    double[] expected = Evaluator.run(module.graph(), inputs).getFirst().doubles();
    EmulatedProgram program = EmulatedProgram.build(folder, emitted.description().whole());
    double[] found = program.run(inputs, LIMIT).getFirst().doubles();
    assertThat(Correlation.of(expected, found)).isGreaterThan(correlation);
    assertLaunchesAgree(program, inputs);
  }

  /** Each element of each launch is within its derived tolerance. */
  static void assertLaunchesAgree(EmulatedProgram program, List<Tensor> inputs) {
    ProbeComparison.Result result =
        new KernelComparison(program, LIMIT, program.tolerance()).run(inputs);
    assertThat(result.finding()).isEmpty();
    assertThat(result.message()).isEmpty();
    assertThat(result.steps()).isPositive();
  }

  /**
   * New keys and values of a cache at any position, rotary embeddings, and attention over all valid
   * keys in chunks of several cores. Keys of 32 positions and fewer tokens aren't whole tiles.
   */
  @Tag("thorough")
  @ParameterizedTest
  @CsvSource({"1, 8, 4, 8, 256, 200, f32, 0.99999", "5, 4, 4, 16, 64, 31, bf16, 0.999"})
  void attentionAgreesWithTheReference(
      int tokens,
      int heads,
      int kvHeads,
      int size,
      int capacity,
      int position,
      String element,
      double correlation) {
    Module module = attention(tokens, heads, kvHeads, size, capacity, element);
    Path folder = scratch.resolve("program");
    EmittedMetalium emitted = emit(module);
    OutputFolder.write(emitted.files(), folder, path -> false);
    Random random = new Random(tokens);
    List<Tensor> states = new ArrayList<>();
    EmulatedProgram program = EmulatedProgram.build(folder, emitted.description().whole());
    try (KernelSession session = new KernelSession(program, LIMIT)) {
      // The cache begins with zeros, is written from its start on, and then at the position.
      for (int start : new int[] {0, position}) {
        List<Tensor> inputs = new ArrayList<>();
        for (Value input : module.graph().inputs().subList(0, 5)) {
          inputs.add(gaussian(random, input));
        }
        inputs.add(Tensor.longs(Shape.of(1), start));
        inputs.add(
            Tensor.longs(Shape.of(tokens), LongStream.range(start, start + tokens).toArray()));
        List<Tensor> whole = new ArrayList<>(inputs);
        for (int i = 7; i < 9; i++) {
          TensorType type = module.graph().inputs().get(i).type();
          whole.add(
              states.isEmpty() || i - 7 >= states.size()
                  ? Tensor.filled(type, 0)
                  : states.get(i - 7));
        }
        List<Tensor> expected = Evaluator.run(module.graph(), whole);
        double[] found = session.run(inputs).getFirst().doubles();
        assertThat(Correlation.of(expected.getFirst().doubles(), found)).isGreaterThan(correlation);
        assertLaunchesAgree(program, inputs);
        states = expected.subList(1, 3);
      }
    }
  }

  @Tag("exhaustive")
  @ParameterizedTest
  @CsvSource({
    "1, 4, 2, 32, 96, 0, f32, 0.99999",
    "3, 6, 2, 40, 64, 61, f32, 0.99999",
    "35, 2, 1, 64, 100, 7, f32, 0.99999"
  })
  void attentionOfOtherSizesAgreesWithTheReference(
      int tokens,
      int heads,
      int kvHeads,
      int size,
      int capacity,
      int position,
      String element,
      double correlation) {
    attentionAgreesWithTheReference(
        tokens, heads, kvHeads, size, capacity, position, element, correlation);
  }

  /** Returns numbers for all inputs of a module, in order. */
  static List<Tensor> gaussians(Random random, Module module) {
    return module.graph().inputs().stream().map(input -> gaussian(random, input)).toList();
  }

  static Tensor gaussian(Random random, Value input) {
    double[] values = new double[Math.toIntExact(input.type().shape().elements())];
    for (int i = 0; i < values.length; i++) {
      values[i] = random.nextGaussian();
    }
    return Tensor.ofDoubles(input.type(), values);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "f32[4,32] | %0 = sin(%x) | P5201 | sin of f32[4,32]",
        "f32[4,32] | %0 = softmax(%x) {axis = 0} | P5201 | softmax of f32[4,32]",
        "f32[4,33] | %0 = exp(%x) | P5202 | f32[4,33]",
        "f32[4,4096] | %0 = softmax(%x) {axis = 1} | P4402 | 1605632 bytes"
      })
  void whatHasNoKernelIsReported(String type, String node, String code, String found) {
    String text =
        """
        pir 1
        module {
          graph @m(%x: TYPE) -> ("y": TYPE) {
            NODE : TYPE "node"
            return %0
          }
        }
        """;
    Module module = PirParser.parse(text.replace("NODE", node).replace("TYPE", type));
    assertThatThrownBy(() -> emit(module))
        .hasMessageContaining("error " + code)
        .hasMessageContaining(found);
  }

  /** The text of an expression with the largest of these elements would have no end. */
  @Test
  void choicesByTheLargestOfManyElementsAreReported() {
    Module module =
        PirParser.parse(
            """
            pir 1
            module {
              graph @m(%x: f32[4,32], %z: f32[4,32]) -> ("y": f32[4,32]) {
                %0 = reduce_max(%x) {axes = [0, 1]} : f32[] "largest"
                %zero = constant 0.0 : f32[] "zero"
                %1 = greater(%0, %zero) : bool[] "flag"
                %2 = select(%1, %x, %z) : f32[4,32] "y"
                return %2
              }
            }
            """);
    assertThatThrownBy(() -> emit(module))
        .hasMessageContaining("error P5201")
        .hasMessageContaining("reduce_max of f32[4,32]");
  }
}
