package io.partita.backend.metalium;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.partita.ir.eval.Evaluator;
import io.partita.ir.file.EmittedFile;
import io.partita.ir.file.OutputFolder;
import io.partita.ir.golden.GoldenFile;
import io.partita.ir.graph.Module;
import io.partita.ir.program.Program;
import io.partita.ir.program.ProgramEvaluator;
import io.partita.ir.target.TargetLibrary;
import io.partita.ir.tensor.Correlation;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.text.PirParser;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;
import io.partita.passes.mesh.shard.ShardPass;
import io.partita.passes.mesh.shard.Strategy;
import io.partita.passes.mesh.sync.ChooseAlgorithms;
import io.partita.passes.program.localize.Localization;
import io.partita.passes.program.localize.Localize;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests programs for several chips on the emulation. */
class SeveralChipsTest {
  private static final Duration LIMIT = Duration.ofMinutes(2);

  @TempDir Path scratch;

  private static Program program(Module module) {
    return Localization.of(module, Localize.CAPACITY);
  }

  private static EmittedMetalium emit(Program program) {
    return new MetaliumBackend(TargetLibrary.find("n150:chips=32")).emit(program, Optional.empty());
  }

  /** A layer whose products are sums of terms of two chips, after a gather of its input. */
  static Program layer(String element) {
    String text =
        """
        pir 1
        module {
          mesh(x=2)
          graph @layer(%a: f32[1,96{x}], %w: f32[64{x},64]) -> ("y": f32[1,64], "all": f32[1,96]) {
            %0 = sync(%a) {kind = "all_gather(x)", to = "[*,*]", algorithm = "direct"} : f32[1,96] "gather"
            %1 = slice(%0) {starts = [0, 0], sizes = [1, 64], steps = [1, 1]} : f32[1,64] "first"
            %2 = reshard(%1) {to = "[*,*{x}]"} : f32[1,64{x}] "own"
            %3 = linear(%2, %w) : f32[1,64] partial(sum: x) "product"
            %4 = sync(%3) {kind = "all_reduce(x)", to = "[*,*]", algorithm = "tree(4)"} : f32[1,64] "sum"
            return %4, %0
          }
        }
        """;
    return program(PirParser.parse(text.replace("f32", element)));
  }

  @Test
  void kernelsAndHostsOfExchangesAreReadable() throws IOException {
    StringBuilder text = new StringBuilder();
    for (EmittedFile file : emit(layer("f32")).files()) {
      if (file.path().matches("kernels/exchange.*|kernels/elementwise.*|emulation.cpp|model.py")) {
        text.append("// ").append(file.path()).append('\n').append(file.text()).append('\n');
      }
    }
    GoldenFile.of("exchange.golden").assertMatches("n150", text.toString());
  }

  /**
   * Exchanges of all kinds and algorithms, with batches, odd extents and unequal parts. Elements
   * are small integers, so that sums are exact in both formats, and results must be equal.
   */
  @Tag("thorough")
  @ParameterizedTest
  @CsvSource("3, bf16, 2")
  void randomExchangesEqualTheReference(int chips, String element, int seed) {
    Random random = new Random(seed);
    StringBuilder inputs = new StringBuilder();
    StringBuilder nodes = new StringBuilder();
    List<String> outputs = new ArrayList<>();
    List<String> results = new ArrayList<>();
    int value = 0;
    for (int i = 0; i < 8; i++) {
      int tokens = 1 + random.nextInt(i < 4 ? 2 : 40);
      // Each chip has at least one column.
      int columns = chips + random.nextInt(90);
      String algorithm =
          List.of("direct", "ring", "tree(2)", "tree(4)", "hierarchical(2)").get(random.nextInt(5));
      String whole = "E[2,%d,%d]".formatted(tokens, columns);
      String split = "E[2,%d,%d{x}]".formatted(tokens, columns);
      String x = "%a" + i;
      inputs.append(i == 0 ? "" : ", ").append(x).append(": ").append(split);
      String sync =
          "%%%d = sync(%s) {kind = \"%s(x)\", to = \"%s\", algorithm = \"%s\"} : %s \"n%d\"\n";
      if (i % 4 == 0) {
        nodes.append(sync.formatted(value, x, "all_gather", "[*,*,*]", algorithm, whole, i));
        outputs.add("\"y%d\": %s".formatted(i, whole));
      } else {
        int features = chips + random.nextInt(70);
        String type = "E[2,%d,%d".formatted(tokens, features);
        inputs.append(", %w").append(i).append(": E[%d{x},%d]".formatted(columns, features));
        nodes.append(
            "%%%d = linear(%s, %%w%d) : %s] partial(sum: x) \"p%d\"\n"
                .formatted(value++, x, i, type, i));
        String from = "%" + (value - 1);
        if (i % 4 == 1) {
          String to = type + "{x}]";
          nodes.append(
              sync.formatted(value, from, "reduce_scatter", "[*,*,*{x}]", algorithm, to, i));
          outputs.add("\"y%d\": %s".formatted(i, to));
        } else {
          if (i % 4 == 2) {
            nodes.append(
                sync.formatted(value, from, "all_reduce", "[*,*,*]", algorithm, type + "]", i));
          } else {
            // The sum at one chip, and then at all.
            String at = " at(x: %d)".formatted(random.nextInt(chips));
            nodes.append(
                sync.formatted(
                    value++, from, "reduce", "[*,*,*]" + at, algorithm, type + "]" + at, i));
            from = "%" + (value - 1);
            nodes.append(
                sync.formatted(value, from, "broadcast", "[*,*,*]", algorithm, type + "]", i));
          }
          outputs.add("\"y%d\": %s]".formatted(i, type));
        }
      }
      results.add("%" + value++);
    }
    String text =
        """
        pir 1
        module {
          mesh(x=N)
          graph @random(INPUTS) -> (OUTPUTS) {
        NODES    return RESULTS
          }
        }
        """
            .replace("N", "\0")
            .replace("I\0PUTS", inputs)
            .replace("\0ODES", nodes)
            .replace("OUTPUTS", String.join(", ", outputs))
            .replace("RESULTS", String.join(", ", results))
            .replace("\0", "" + chips)
            .replaceAll("\\bE\\[", element + "[");
    assertEqual(program(PirParser.parse(text)), random);
  }

  @Tag("exhaustive")
  @ParameterizedTest
  @CsvSource({"2, f32, 1", "5, f32, 3", "8, f32, 4"})
  void moreRandomExchangesEqualTheReference(int chips, String element, int seed) {
    randomExchangesEqualTheReference(chips, element, seed);
  }

  private void assertEqual(Program program, Random random) {
    Map<String, Tensor> inputs = new LinkedHashMap<>();
    program.inputs().forEach((name, type) -> inputs.put(name, integers(random, type.type())));
    Map<String, Tensor> expected = new ProgramEvaluator(program, Localize.CAPACITY).run(inputs);
    List<Tensor> found = run(program, List.copyOf(inputs.values()));
    int output = 0;
    for (String name : program.outputs().keySet()) {
      assertThat(found.get(output++)).as(name).isEqualTo(expected.get(name));
    }
  }

  private List<Tensor> run(Program program, List<Tensor> inputs) {
    Path folder = scratch.resolve("program");
    EmittedMetalium emitted = emit(program);
    OutputFolder.write(emitted.files(), folder, path -> false);
    EmulatedProgram built = EmulatedProgram.build(folder, emitted.description().whole());
    EmittedKernelsTest.assertLaunchesAgree(built, inputs);
    return built.run(inputs, LIMIT);
  }

  private static Tensor integers(Random random, TensorType type) {
    double[] values = new double[Math.toIntExact(type.shape().elements())];
    for (int i = 0; i < values.length; i++) {
      values[i] = random.nextInt(-1, 2);
    }
    return Tensor.ofDoubles(type, values);
  }

  /** A vector that doesn't fit L1 is exchanged in parts. */
  @Tag("thorough")
  @Test
  void longVectorsAreExchangedInParts() {
    Module module =
        PirParser.parse(
            """
            pir 1
            module {
              mesh(x=2)
              graph @long(%a: f32[300,2000{x}]) -> ("y": f32[300,2000]) {
                %0 = sync(%a) {kind = "all_gather(x)", to = "[*,*]", algorithm = "ring"} : f32[300,2000] "gather"
                return %0
              }
            }
            """);
    assertEqual(program(module), new Random(5));
  }

  /** Two chips have 4 rows and two have 29, so their vectors differ in length. */
  @Tag("thorough")
  @Test
  void groupsExchangeAmongThemselves() {
    Module module =
        PirParser.parse(
            """
            pir 1
            module {
              mesh(x=2, y=2)
              graph @groups(%a: f32[2,33{x: 4},10{y}]) -> ("y": f32[2,33{x: 4},10]) {
                %0 = sync(%a) {kind = "all_gather(y)", to = "[*,*{x: 4},*]", algorithm = "direct"} : f32[2,33{x: 4},10] "gather"
                return %0
              }
            }
            """);
    assertEqual(program(module), new Random(6));
  }

  /** A network of 41 features, of which two chips have 14, with a batch of two and five tokens. */
  @Tag("exhaustive")
  @Test
  void networksWithOddExtentsAgreeWithTheReference() {
    Module module =
        PirParser.parse(
            """
            pir 1
            module {
              graph @network(%x: f32[2,5,33]) -> ("y": f32[2,5,33]) {
                %s = constant SCALE : f32[33]
                %0 = rms_norm(%x, %s) {axis = 2, epsilon = 1.0E-5, scale} : f32[2,5,33] "norm"
                %g = constant GATE : f32[33,41]
                %u = constant UP : f32[33,41]
                %d = constant DOWN : f32[41,33]
                %1 = gated_ffn(%0, %g, %u, %d) {activation = silu} : f32[2,5,33] "network"
                %2 = add(%x, %1) : f32[2,5,33] "residual"
                return %2
              }
            }
            """
                .replace("SCALE", gaussian(1, 33))
                .replace("GATE", gaussian(2, 33 * 41))
                .replace("UP", gaussian(3, 33 * 41))
                .replace("DOWN", gaussian(4, 41 * 33)));
    Module mesh =
        ChooseAlgorithms.byDeviceCount().run(new ShardPass(Strategy.parse("tensor=3")).run(module));
    double[] x = new Random(5).doubles(330, -2, 2).toArray();
    List<Tensor> inputs = List.of(Tensor.ofDoubles(module.graph().inputs().getFirst().type(), x));
    double[] expected = Evaluator.run(module.graph(), inputs).getFirst().doubles();
    double[] found = run(program(mesh), inputs).getFirst().doubles();
    // The matrix engine takes 10 bits of the mantissa of one factor and 9 of the other.
    assertThat(Correlation.of(expected, found)).isGreaterThan(0.99999);
  }

  static String gaussian(int seed, int count) {
    Random random = new Random(seed);
    List<String> values = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      values.add(Float.toString((float) random.nextGaussian() / 4));
    }
    return values.toString();
  }

  private static void requireRefused(String text, String... messages) {
    assertThatThrownBy(() -> emit(program(PirParser.parse(text))))
        .hasMessageContainingAll(messages);
  }

  /** Each chip has the rows of its own integers, of which a negative one counts from the end. */
  @Tag("thorough")
  @Test
  void integersMayBeSplit() {
    Module module =
        PirParser.parse(
            """
            pir 1
            module {
              mesh(x=2)
              graph @lookup(%table: f32[9,32], %ids: i64[2,3{x: 1}]) -> ("y": f32[2,3{x: 1},32]) {
                %0 = embedding(%table, %ids) : f32[2,3{x: 1},32] "lookup"
                return %0
              }
            }
            """);
    Tensor table = integers(new Random(1), module.graph().inputs().getFirst().type());
    List<Tensor> inputs = List.of(table, Tensor.longs(Shape.of(2, 3), 0, 8, 3, -1, 4, 4));
    assertThat(run(program(module), inputs)).isEqualTo(Evaluator.run(module.graph(), inputs));
  }

  @Test
  void inputsThatAreTermsOfASumAreReported() {
    requireRefused(
        """
        pir 1
        module {
          mesh(x=2)
          graph @sum(%a: f32[2,32] partial(sum: x)) -> ("y": f32[2,32]) {
            %0 = sync(%a) {kind = "all_reduce(x)", to = "[*,*]", algorithm = "direct"} : f32[2,32] "sum"
            return %0
          }
        }
        """,
        "error P5203", "partial(sum: x)");
  }

  @Test
  void tooManyMessagesAreReported() {
    requireRefused(
        """
        pir 1
        module {
          mesh(x=32)
          graph @gather(%a: f32[1,64{x}]) -> ("y": f32[1,64]) {
            %0 = sync(%a) {kind = "all_gather(x)", to = "[*,*]", algorithm = "direct"} : f32[1,64] "gather"
            return %0
          }
        }
        """,
        "error P5203", "62 messages of a chip");
  }

  @Test
  void elementsOfOtherTypesAreReported() {
    requireRefused(
        """
        pir 1
        module {
          mesh(x=2)
          graph @gather(%a: f32[1,64{x}]) -> ("y": f16[1,64]) {
            %0 = cast(%a) {to = f16} : f16[1,64{x}] "narrow"
            %1 = sync(%0) {kind = "all_gather(x)", to = "[*,*]", algorithm = "direct"} : f16[1,64] "gather"
            return %1
          }
        }
        """,
        "error P5201", "cast of f32");
  }
}
