package io.partita.backend.metalium;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.partita.backend.emitted.probe.Finding;
import io.partita.backend.emitted.probe.ProbeComparison;
import io.partita.backend.metalium.simulator.SimulatedProgram;
import io.partita.ir.eval.Evaluator;
import io.partita.ir.file.OutputFolder;
import io.partita.ir.graph.Module;
import io.partita.ir.graph.Value;
import io.partita.ir.target.TargetChange;
import io.partita.ir.tensor.Correlation;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.text.PirParser;
import io.partita.ir.type.Shape;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.OptionalDouble;
import java.util.Random;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Runs emitted host programs and kernels under Tenstorrent's runtime, on one simulated chip. */
@Tag("thorough")
class SimulatedKernelsTest {
  private static final Duration LIMIT = Duration.ofMinutes(10);

  /** What each kernel, and a block, is to reach. */
  private static final double CORRELATION = 0.999;

  @TempDir static Path work;

  @TempDir Path scratch;

  private SimulatedProgram program(Module module) {
    return program(module, MetaliumOptions.STANDARD);
  }

  private SimulatedProgram program(Module module, MetaliumOptions options) {
    Path folder = scratch.resolve("program");
    EmittedMetalium emitted = EmittedKernelsTest.emit(module, options);
    OutputFolder.write(emitted.files(), folder, path -> false);
    return WithTtsim.program(folder, emitted.description().whole(), work);
  }

  private static Module module(String inputs, String type, String nodes) {
    return PirParser.parse(
        """
        pir 1
        module {
          graph @m(INPUTS) -> ("y": TYPE) {
            NODES
            return %y
          }
        }
        """
            .replace("INPUTS", inputs)
            .replace("NODES", nodes)
            .replace("TYPE", type));
  }

  private void assertAgrees(Module module) {
    assertAgrees(module, MetaliumOptions.STANDARD);
  }

  private void assertAgrees(Module module, MetaliumOptions options) {
    Random random = new Random(11);
    List<Tensor> inputs = EmittedKernelsTest.gaussians(random, module);
    double[] expected = Evaluator.run(module.graph(), inputs).getFirst().doubles();
    double[] found = program(module, options).run(inputs, LIMIT).getFirst().doubles();
    assertThat(Correlation.of(expected, found)).isGreaterThan(CORRELATION);
  }

  @ParameterizedTest
  @CsvSource({
    "exp, 1",
    "silu, 1",
    "gelu, 1",
    "sigmoid, 1",
    "tanh, 1",
    "relu, 1",
    "abs, 1",
    "sqrt, 2",
    "round, 1",
    "reciprocal, 2"
  })
  void functionsAgree(String function, int power) {
    String argument = power == 1 ? "%x" : "%square";
    String square = power == 1 ? "" : "%square = mul(%x, %x) : f32[40,64] \"square\"\n    ";
    assertAgrees(
        module(
            "%x: f32[40,64]",
            "f32[40,64]", square + "%y = " + function + "(" + argument + ") : f32[40,64] \"y\""));
  }

  /** Gaussian numbers have more bits than bf16. */
  @Test
  void numbersAreRoundedToBf16() {
    Module module =
        module("%x: f32[40,64]", "bf16[40,64]", "%y = cast(%x) {to = bf16} : bf16[40,64] \"y\"");
    List<Tensor> inputs =
        List.of(EmittedKernelsTest.gaussian(new Random(11), module.graph().inputs().getFirst()));
    assertThat(program(module).run(inputs, LIMIT)).isEqualTo(Evaluator.run(module.graph(), inputs));
  }

  @ParameterizedTest
  @CsvSource({"add", "sub", "mul", "div", "max", "min"})
  void functionsOfTwoOperandsAgree(String function) {
    assertAgrees(
        module(
            "%x: f32[40,64], %z: f32[40,64]",
            "f32[40,64]", "%y = " + function + "(%x, %z) : f32[40,64] \"y\""));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "%x: f32[64,96], %w: f32[96,160] | f32[64,160] | linear(%x, %w)",
        "%x: f32[40,96], %s: f32[96] | f32[40,96] | rms_norm(%x, %s) {axis = 1, epsilon = 1.0E-5,"
            + " scale}",
        "%x: f32[40,96] | f32[40,96] | softmax(%x) {axis = 1}",
        "%x: bf16[40,96] | bf16[40,96] | softmax(%x) {axis = 1}"
      })
  void kernelsAgree(String inputs, String type, String node) {
    assertAgrees(module(inputs, type, "%y = " + node + " : " + type + " \"y\""));
  }

  /** Padding is less than all elements, also than the smallest one that all formats have. */
  @ParameterizedTest
  @ValueSource(strings = {"f32", "bf16"})
  void paddingTakesNoPartInSoftmaxes(String element) {
    String type = element + "[40,37]";
    Module module = module("%x: " + type, type, "%y = softmax(%x) {axis = 1} : " + type + " \"y\"");
    Tensor x = EmittedKernelsTest.gaussian(new Random(11), module.graph().inputs().getFirst());
    double[] elements = x.doubles();
    Arrays.setAll(elements, i -> i < 37 ? HostNumbers.SMALLEST : elements[i] - 16);
    List<Tensor> inputs = List.of(Tensor.ofDoubles(x.type(), elements));
    double[] expected = Evaluator.run(module.graph(), inputs).getFirst().doubles();
    double[] found = program(module).run(inputs, LIMIT).getFirst().doubles();
    assertThat(Correlation.of(expected, found)).isGreaterThan(CORRELATION);
    assertThat(found[0]).isCloseTo(1.0 / 37, within(0.001));
  }

  /** The runtime converts weights to bfloat8_b, and the matrix engine multiplies by them. */
  @ParameterizedTest
  @ValueSource(strings = {"f32", "bf16"})
  void productsWithWeightsInBlocksAgree(String element) {
    double[] weight = BlockFloatWeightsTest.gaussian(1, 96 * 72);
    assertAgrees(
        BlockFloatWeightsTest.layers(element, weight, weight), BlockFloatWeightsTest.options());
  }

  /**
   * Destination registers of 16 bits, with sums that are kept between parts of the depth: the chip
   * rounds each sum that it adds to them.
   */
  @ParameterizedTest
  @CsvSource({"40, 160, 320, 1024, true", "70, 700, 300, 40, true", "70, 700, 300, 40, false"})
  void productsWithSumsInBf16Agree(
      int rows, int depth, int columns, int kibibytes, boolean isFused) {
    Module module = SumsInBf16Test.product(rows, depth, columns, isFused);
    EmittedMetalium emitted =
        GridPrograms.emit(
            module,
            TargetChange.withSumBits(GridPrograms.target(2, 2, kibibytes * 1024L), Short.SIZE));
    Path folder = scratch.resolve("program");
    OutputFolder.write(emitted.files(), folder, path -> false);
    SimulatedProgram program = WithTtsim.program(folder, emitted.description().whole(), work);
    List<Tensor> inputs = EmittedKernelsTest.gaussians(new Random(11), module);
    double[] expected = Evaluator.run(module.graph(), inputs).getFirst().doubles();
    double[] found = program.run(inputs, LIMIT).getFirst().doubles();
    assertThat(Correlation.of(expected, found)).isGreaterThan(CORRELATION);
    // Without a function of the vector engine, within what is derived for the emulation.
    OptionalDouble tolerance = isFused ? program.tolerance() : OptionalDouble.empty();
    ProbeComparison.Result compared = new KernelComparison(program, LIMIT, tolerance).run(inputs);
    assertThat(compared.finding()).isEmpty();
  }

  /** Codes are those of the reference, and so are the centroids. */
  @Test
  void centroidsAgree() {
    Module module = CentroidsTest.centroids();
    List<Tensor> inputs =
        List.of(EmittedKernelsTest.gaussian(new Random(11), module.graph().inputs().getFirst()));
    List<Tensor> expected = Evaluator.run(module.graph(), inputs);
    List<Tensor> found = program(module, MetaliumOptions.STANDARD).run(inputs, LIMIT);
    assertThat(found.getFirst().doubles()).isEqualTo(expected.getFirst().doubles());
    assertThat(found.getLast().doubles()).isEqualTo(expected.getLast().doubles());
  }

  @Test
  void layerNormsAgree() {
    assertAgrees(EmittedKernelsTest.layerNorm(40, 72, true, "f32"));
  }

  @ParameterizedTest
  @CsvSource({"1, f32", "40, bf16"})
  void feedForwardBlocksAgree(int tokens, String element) {
    assertAgrees(EmittedKernelsTest.feedForward(tokens, element));
  }

  /**
   * Embeddings, rotary embeddings, cache updates at the start and at a position, and attention over
   * all keys so far, in chunks of several cores.
   */
  @ParameterizedTest
  @CsvSource({"1, 4, 2, 32, 96, 70, f32", "35, 2, 1, 64, 100, 7, f32", "3, 6, 2, 40, 64, 61, bf16"})
  void attentionAgrees(
      int tokens, int heads, int kvHeads, int size, int capacity, int position, String element) {
    Module module = EmittedKernelsTest.attention(tokens, heads, kvHeads, size, capacity, element);
    List<Value> parameters = module.graph().inputs();
    Random random = new Random(tokens);
    List<Tensor> states =
        parameters.subList(7, 9).stream().map(state -> Tensor.filled(state.type(), 0)).toList();
    try (KernelSession session = new KernelSession(program(module), LIMIT)) {
      for (int start : new int[] {0, position}) {
        List<Tensor> inputs = new ArrayList<>();
        parameters
            .subList(0, 5)
            .forEach(input -> inputs.add(EmittedKernelsTest.gaussian(random, input)));
        inputs.add(Tensor.longs(Shape.of(1), start));
        inputs.add(
            Tensor.longs(Shape.of(tokens), LongStream.range(start, start + tokens).toArray()));
        double[] found = session.run(inputs).getFirst().doubles();
        inputs.addAll(states);
        List<Tensor> results = Evaluator.run(module.graph(), inputs);
        assertThat(Correlation.of(results.getFirst().doubles(), found)).isGreaterThan(CORRELATION);
        states = results.subList(1, 3);
      }
    }
  }

  /**
   * The host computes a mask of padding, positions of tokens and angles; attention adds the mask,
   * also of a sequence without tokens.
   */
  @ParameterizedTest
  @ValueSource(strings = {"f32", "bf16"})
  void masksAndAnglesOfTheHostAgree(String element) {
    Module module = HostNumbersTest.masked(element);
    try (KernelSession session = new KernelSession(program(module), LIMIT)) {
      for (int end : new int[] {37, 3, 0}) {
        List<Tensor> inputs =
            HostNumbersTest.inputs(
                module, HostNumbersTest.tokens(0, end), HostNumbersTest.tokens(5, 33));
        List<Tensor> expected = Evaluator.run(module.graph(), inputs);
        List<Tensor> found = session.run(inputs);
        double[] heads = expected.getFirst().doubles();
        assertThat(Correlation.of(heads, found.getFirst().doubles())).isGreaterThan(CORRELATION);
        assertThat(found.getLast().doubles()).isEqualTo(expected.getLast().doubles());
      }
    }
  }

  /** The chip has 9 rows of 8 cores, and the host program is changed to need more. */
  @Test
  void gridsThatAreTooSmallAreReported() throws IOException {
    Module module = EmittedKernelsTest.attention(1, 4, 2, 32, 96, "f32");
    SimulatedProgram program = program(module);
    Path host = program.folder().resolve("model.py");
    String text = Files.readString(host);
    assertThat(text).contains("COLUMNS, ROWS = 8, 9\n");
    Files.writeString(host, text.replace("COLUMNS, ROWS = 8, 9\n", "COLUMNS, ROWS = 8, 10\n"));
    List<Tensor> inputs =
        module.graph().inputs().subList(0, 7).stream()
            .map(input -> Tensor.filled(input.type(), 0))
            .toList();
    assertThatThrownBy(() -> program.run(inputs, LIMIT))
        .hasMessageContaining("error P5104")
        .hasMessageContaining("a grid of 8x10 cores is needed, but the device has one of 8x9")
        .hasMessageContaining("compile the model with --set grid=8x9");
  }

  /** One core multicasts a row to 9 others in a rectangle of 16, and to the whole grid. */
  @ParameterizedTest
  @ValueSource(ints = {320, 2560})
  void productsThatShareAnOperandAgree(int columns) {
    assertAgrees(EmittedKernelsTest.wide(columns));
  }

  /**
   * Launches are compared one by one, and the first whose kernel computes something else is named.
   */
  @Test
  void launchesAreCompared() throws IOException {
    Module module = EmittedKernelsTest.feedForward(1, "f32");
    SimulatedProgram program = program(module);
    Random random = new Random(5);
    List<Tensor> inputs = EmittedKernelsTest.gaussians(random, module);
    KernelComparison comparison = new KernelComparison(program, LIMIT, program.tolerance());
    ProbeComparison.Result right = comparison.run(inputs);
    assertThat(right.finding()).isEmpty();
    assertThat(right.steps()).isGreaterThan(3);
    assertThat(right.largest()).isBetween(0.0, program.tolerance().orElseThrow());

    Path kernel = program.folder().resolve("kernels/softmax_compute.cpp");
    Files.writeString(
        kernel,
        Files.readString(kernel).replace("exp_tile(0);", "exp_tile(0);\n            exp_tile(0);"));
    Finding changed = comparison.run(inputs).finding().orElseThrow();
    assertThat(changed.kind()).isEqualTo(Finding.Kind.DIVERGES);
    assertThat(changed.origin().text()).contains("softmax");
  }
}
