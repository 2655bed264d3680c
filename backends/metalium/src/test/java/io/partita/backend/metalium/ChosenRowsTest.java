package io.partita.backend.metalium;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.offset;

import io.partita.ir.eval.Evaluator;
import io.partita.ir.file.OutputFolder;
import io.partita.ir.graph.Module;
import io.partita.ir.tensor.Correlation;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.text.PirParser;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What constants choose: keys that queries see, rows of a mean, and factors of several rows. */
class ChosenRowsTest {
  private static final Duration LIMIT = Duration.ofMinutes(2);

  @TempDir Path scratch;

  private EmulatedProgram built(Module module) {
    Path folder = scratch.resolve("program");
    EmittedMetalium emitted = EmittedKernelsTest.emit(module);
    OutputFolder.write(emitted.files(), folder, path -> false);
    return EmulatedProgram.build(folder, emitted.description().whole());
  }

  private static Module masked(String mask) {
    return PirParser.parse(
        """
        pir 1
        module {
          graph @masked(%q: f32[1,4,3,8], %k: f32[1,2,6,8], %v: f32[1,2,6,8]) -> ("y": f32[1,4,3,8]) {
            %m = constant MASK : bool[3,6] "mask"
            %0 = attention(%q, %k, %v, %m) {scale = 0.5, soft_cap = 0.0, offset = [0], window = 0, mask} : f32[1,4,3,8] "attention"
            return %0
          }
        }
        """
            .replace("MASK", mask));
  }

  /** Keys between others, or at the end, that no query sees. */
  @Tag("thorough")
  @ParameterizedTest
  @ValueSource(strings = "true, true, false, true, false, true")
  void hiddenKeysTakeNoPart(String row) {
    assertAgrees(masked("[%s, %s, %s]".formatted(row, row, row)));
  }

  @Tag("exhaustive")
  @ParameterizedTest
  @ValueSource(strings = "true, true, true, true, false, false")
  void moreHiddenKeysTakeNoPart(String row) {
    hiddenKeysTakeNoPart(row);
  }

  /** Keys that some queries see. */
  @Tag("thorough")
  @Test
  void masksDifferBetweenQueries() {
    String first = "true, false, false, false, false, false";
    String second = "true, true, false, true, false, true";
    assertAgrees(masked("[%s, %s, %s]".formatted(first, second, second)));
  }

  private void assertAgrees(Module module) {
    EmulatedProgram program = built(module);
    Random random = new Random(4);
    List<Tensor> inputs = EmittedKernelsTest.gaussians(random, module);
    double[] expected = Evaluator.run(module.graph(), inputs).getFirst().doubles();
    double[] found = program.run(inputs, LIMIT).getFirst().doubles();
    assertThat(Correlation.of(expected, found)).isGreaterThan(0.99999);
    EmittedKernelsTest.assertLaunchesAgree(program, inputs);
  }

  /** A query without keys gives zeros, which the kernel doesn't. */
  @Test
  void queriesWithoutKeysAreReported() {
    String rows =
        "[true, true, true, true, true, true, false, false, false, false, false, false, true, true, true, true, true, true]";
    assertThatThrownBy(() -> EmittedKernelsTest.emit(masked(rows)))
        .hasMessageContaining("error P5201")
        .hasMessageContaining("attention of");
  }

  /** Rows that flags choose, and the mean of rows, which is a sum and a product in both. */
  @Tag("thorough")
  @Test
  void rowsAreChosenAndAveraged() {
    Module module =
        PirParser.parse(
            """
            pir 1
            module {
              graph @rows(%x: f32[1,4,40]) -> ("chosen": f32[1,4,40], "mean": f32[1,1,40]) {
                %f = constant [true, false, true, true] : bool[4,1] "flags"
                %z = constant 0.0 : f32[] "zero"
                %0 = select(%f, %x, %z) : f32[1,4,40] "chosen"
                %1 = reduce_mean(%0) {axes = [1], keep_dims} : f32[1,1,40] "mean"
                return %0, %1
              }
            }
            """);
    EmulatedProgram program = built(module);
    List<Tensor> inputs =
        List.of(EmittedKernelsTest.gaussian(new Random(4), module.graph().inputs().getFirst()));
    List<Tensor> expected = Evaluator.run(module.graph(), inputs);
    List<Tensor> found = program.run(inputs, LIMIT);
    for (int output = 0; output < 2; output++) {
      double[] numbers = expected.get(output).doubles();
      for (int i = 0; i < numbers.length; i++) {
        assertThat(found.get(output).getDouble(i)).isCloseTo(numbers[i], offset(0x1p-21));
      }
    }
    EmittedKernelsTest.assertLaunchesAgree(program, inputs);
  }

  /** A constant whose rows count for several tokens; single products are exact but for rounding. */
  @Tag("thorough")
  @Test
  void constantsAreRepeated() {
    Module module =
        PirParser.parse(
            """
            pir 1
            module {
              graph @steps(%x: f32[2,5,3]) -> ("y": f32[2,5,3]) {
                %0 = constant [1.5, -2.0, 0.1, 3.0, 0.25, -7.0] : f32[2,1,3] "steps"
                %1 = mul(%0, %x) : f32[2,5,3] "y"
                return %1
              }
            }
            """);
    EmulatedProgram program = built(module);
    List<Tensor> inputs =
        List.of(EmittedKernelsTest.gaussian(new Random(4), module.graph().inputs().getFirst()));
    assertThat(program.run(inputs, LIMIT)).isEqualTo(Evaluator.run(module.graph(), inputs));
    EmittedKernelsTest.assertLaunchesAgree(program, inputs);
  }
}
