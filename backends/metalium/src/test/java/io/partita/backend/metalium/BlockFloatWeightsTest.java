package io.partita.backend.metalium;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.partita.backend.emitted.probe.ProbeComparison;
import io.partita.ir.eval.Evaluator;
import io.partita.ir.file.EmittedFile;
import io.partita.ir.file.OutputFolder;
import io.partita.ir.golden.GoldenFile;
import io.partita.ir.graph.Module;
import io.partita.ir.program.Program;
import io.partita.ir.target.TargetLibrary;
import io.partita.ir.tensor.Correlation;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.text.PirParser;
import io.partita.ir.type.Shape;
import io.partita.passes.program.localize.Localization;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Weights of products in bf8_b: 16 elements of a row share an exponent. */
class BlockFloatWeightsTest {
  private static final Duration LIMIT = Duration.ofMinutes(2);
  private static final int ROWS = 96;
  private static final int COLUMNS = 72;

  @TempDir Path scratch;

  static MetaliumOptions options() {
    return MetaliumOptions.takeFrom(new HashMap<>(Map.of("weights", "bf8_b")));
  }

  static double[] gaussian(int seed, int count) {
    Random random = new Random(seed);
    return random.doubles(count, -1, 1).map(x -> x * Math.exp(2 * random.nextGaussian())).toArray();
  }

  private static String text(double[] values) {
    List<String> all = new ArrayList<>();
    for (double value : values) {
      all.add(Float.toString((float) value));
    }
    return all.toString();
  }

  /** A layer, and another one whose weight is transposed. */
  static Module layers(String element, double[] up, double[] down) {
    return PirParser.parse(
        """
        pir 1
        module {
          graph @layers(%x: f32[40,96]) -> ("y": f32[40,96]) {
            %w = constant UP : f32[96,72]
            %v = constant DOWN : f32[96,72]
            %b = constant BIAS : f32[72]
            %0 = linear(%x, %w, %b) {bias} : f32[40,72] "up"
            %1 = silu(%0) : f32[40,72] "silu"
            %2 = linear(%1, %v) {transposed} : f32[40,96] "down"
            return %2
          }
        }
        """
            .replace("UP", text(up))
            .replace("DOWN", text(down))
            .replace("BIAS", text(gaussian(2, COLUMNS)))
            .replace("f32", element));
  }

  /** By the definition of the format, block by block of each row. */
  private static double[] rounded(double[] weight, boolean isTransposed) {
    double[] result = new double[weight.length];
    int rows = isTransposed ? COLUMNS : ROWS;
    int columns = isTransposed ? ROWS : COLUMNS;
    for (int row = 0; row < rows; row++) {
      for (int start = 0; start < columns; start += 16) {
        int end = Math.min(columns, start + 16);
        double most = 0;
        for (int column = start; column < end; column++) {
          most = Math.max(most, Math.abs((float) weight[at(row, column, isTransposed)]));
        }
        double step = Math.pow(2, Math.floor(Math.log(most) / Math.log(2)) - 6);
        for (int column = start; column < end; column++) {
          int at = at(row, column, isTransposed);
          double x = (float) weight[at] / step;
          result[at] = step * Math.max(-127, Math.min(127, Math.rint(x)));
        }
      }
    }
    return result;
  }

  private static int at(int row, int column, boolean isTransposed) {
    return isTransposed ? column * COLUMNS + row : row * COLUMNS + column;
  }

  @Test
  void hostsStoreWeightsInBlocks() throws IOException {
    StringBuilder text = new StringBuilder();
    double[] weight = gaussian(1, ROWS * COLUMNS);
    for (EmittedFile file :
        EmittedKernelsTest.emit(layers("bf16", weight, weight), options()).files()) {
      if (file.path().matches("kernels/linear.*|emulation.cpp|model.py")) {
        text.append("// ").append(file.path()).append('\n').append(file.text()).append('\n');
      }
    }
    GoldenFile.of("block-float.golden").assertMatches("n150", text.toString());
  }

  /**
   * The emulation computes with the rounded weights: as close to the reference with these as
   * without blocks, and less close to the one with the weights of the model.
   */
  @Tag("thorough")
  @ParameterizedTest
  @CsvSource("bf16, 0.9999")
  void productsUseRoundedWeights(String element, double correlation) {
    double[] weight = gaussian(1, ROWS * COLUMNS);
    Module module = layers(element, weight, weight);
    Tensor x = Tensor.ofDoubles(module.graph().inputs().getFirst().type(), gaussian(3, 40 * ROWS));
    double[] found = run(module, x);
    double[] expected =
        reference(layers(element, rounded(weight, false), rounded(weight, true)), x);
    assertThat(Correlation.of(expected, found)).isGreaterThan(correlation);
    assertThat(Correlation.of(reference(module, x), found))
        .isBetween(0.999, Correlation.of(expected, found));
  }

  @Tag("exhaustive")
  @ParameterizedTest
  @CsvSource("f32, 0.999999")
  void productsOfF32UseRoundedWeights(String element, double correlation) {
    productsUseRoundedWeights(element, correlation);
  }

  private double[] run(Module module, Tensor x) {
    EmittedMetalium emitted = EmittedKernelsTest.emit(module, options());
    return built(emitted).run(List.of(x), LIMIT).getFirst().doubles();
  }

  private EmulatedProgram built(EmittedMetalium emitted) {
    Path folder = scratch.resolve("program");
    OutputFolder.write(emitted.files(), folder, path -> false);
    return EmulatedProgram.build(folder, emitted.description().whole());
  }

  private static double[] reference(Module module, Tensor x) {
    return Evaluator.run(module.graph(), List.of(x)).getFirst().doubles();
  }

  /** Chips have blocks of their own, and a table whose transpose is a weight is stored twice. */
  @Tag("thorough")
  @Test
  void launchesAgreeWithTheReference() {
    Module module =
        PirParser.parse(
            """
            pir 1
            module {
              mesh(x=2)
              graph @tied(%ids: i64[3]) -> ("y": f32[3,64]) {
                %t = constant TABLE : f32[64,48]
                %0 = embedding(%t, %ids) : f32[3,48] "lookup"
                %1 = linear(%0, %t) {transposed} : f32[3,64] "scores"
                %w = constant WEIGHT : f32[64,32]
                %2 = reshard(%w) {to = "[*{x},*]"} : f32[64{x},32] "part"
                %3 = reshard(%1) {to = "[*,*{x}]"} : f32[3,64{x}] "scores_part"
                %4 = linear(%3, %2) : f32[3,32] partial(sum: x) "down"
                %5 = sync(%4) {kind = "all_reduce(x)", to = "[*,*]", algorithm = "direct"} : f32[3,32] "sum"
                %6 = linear(%5, %w) {transposed} : f32[3,64] "up"
                return %6
              }
            }
            """
                .replace("TABLE", text(gaussian(5, 64 * 48)))
                .replace("WEIGHT", text(gaussian(6, 64 * 32))));
    Program program = Localization.of(module, 1);
    EmittedMetalium emitted =
        new MetaliumBackend(TargetLibrary.find("n150:chips=2"), options())
            .emit(program, Optional.empty());
    EmulatedProgram built = built(emitted);
    ProbeComparison.Result result =
        new KernelComparison(built, LIMIT, built.tolerance())
            .run(List.of(Tensor.longs(Shape.of(3), 5, 63, 0)));
    assertThat(result.finding()).isEmpty();
    assertThat(result.steps()).isGreaterThan(3);
  }

  @ParameterizedTest
  @ValueSource(strings = {"bf4_b", "BF8_B", ""})
  void otherFormatsAreRefused(String name) {
    assertThatThrownBy(() -> MetaliumOptions.takeFrom(new HashMap<>(Map.of("weights", name))))
        .hasMessageContaining("error P5206")
        .hasMessageContaining("--set weights=" + name)
        .hasMessageContaining("one of model, bf8_b");
  }
}
