package io.partita.backend.metalium;

import static io.partita.backend.metalium.GridPrograms.blocks;
import static io.partita.backend.metalium.GridPrograms.emit;
import static io.partita.backend.metalium.GridPrograms.target;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.partita.ir.eval.Evaluator;
import io.partita.ir.graph.Module;
import io.partita.ir.target.TargetDescription;
import io.partita.ir.target.TargetLibrary;
import io.partita.ir.tensor.Correlation;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.text.PirParser;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Norms and softmaxes in blocks of rows, which the schedule deals to cores. */
class BlockedRowsTest {
  private static final Duration LIMIT = Duration.ofMinutes(2);

  @TempDir Path scratch;

  /** Norms and a softmax. */
  private static Module rows(int rows, int columns, String element) {
    return PirParser.parse(
        """
        pir 1
        module {
          graph @rows(%x: f32[2,M,N], %scale: f32[N], %bias: f32[N]) -> ("y": f32[2,M,N]) {
            %0 = layer_norm(%x, %scale, %bias) {axis = 2, epsilon = 1.0E-5, scale, bias} : f32[2,M,N] "layer"
            %1 = rms_norm(%0, %scale) {axis = 2, epsilon = 1.0E-5, scale} : f32[2,M,N] "rms"
            %2 = softmax(%1) {axis = 2} : f32[2,M,N] "y"
            return %2
          }
        }
        """
            .replaceAll("\\bM\\b", "" + rows)
            .replaceAll("\\bN\\b", "" + columns)
            .replace("f32", element));
  }

  /** One core after the other; with fewer rows than cores, some have none. */
  @Test
  void rowsAreDealtAsTheScheduleSays() throws IOException {
    assertThat(blocks(emit(rows(100, 96, "f32"), target(8, 9, 1 << 20))))
        .containsExactly(
            List.of("1", "7", "3", "1", "1"),
            List.of("1", "7", "3", "1", "1"),
            List.of("1", "7", "3", "1", ""));
  }

  @Test
  void rowsOfOneCoreAreNotShared() throws IOException {
    assertThat(blocks(emit(rows(16, 33, "bf16"), target(8, 9, 1 << 20))).subList(0, 2))
        .containsOnly(List.of("1", "1", "2", "1", ""));
  }

  /** The longest rows whose scale, bias, squares and results are in L1 beside them. */
  @ParameterizedTest
  @CsvSource({"2048, f32", "4096, bf16"})
  void longRowsFitL1(int columns, String element) throws IOException {
    assertThat(blocks(emit(rows(32, columns, element), TargetLibrary.find("n150")))).hasSize(3);
  }

  /** A chip whose cores have several blocks, of several rows, or no block. */
  @Tag("thorough")
  @ParameterizedTest
  @CsvSource({"2, 2, 190, 40, bf16, 1048576", "8, 9, 260, 33, f32, 1048576"})
  void rowsOfAllCoresAgree(int columns, int rows, int m, int n, String element, long bytesOfCore) {
    assertAgrees(rows(m, n, element), target(columns, rows, bytesOfCore), element);
  }

  @Tag("exhaustive")
  @ParameterizedTest
  @CsvSource({
    "1, 1, 70, 64, f32, 1048576",
    "3, 1, 33, 65, f32, 1048576",
    "3, 2, 400, 96, f32, 131072"
  })
  void rowsOfOtherGridsAgree(
      int columns, int rows, int m, int n, String element, long bytesOfCore) {
    rowsOfAllCoresAgree(columns, rows, m, n, element, bytesOfCore);
  }

  @Tag("thorough")
  @ParameterizedTest
  @ValueSource(ints = {1, 2})
  void randomRowsAgree(int seed) {
    Random random = new Random(seed);
    String element = random.nextBoolean() ? "f32" : "bf16";
    Module module = rows(1 + random.nextInt(200), 1 + random.nextInt(200), element);
    TargetDescription target =
        target(1 + random.nextInt(4), 1 + random.nextInt(4), (96 + random.nextInt(200)) * 1024L);
    assertAgrees(module, target, element);
  }

  @Tag("exhaustive")
  @ParameterizedTest
  @ValueSource(ints = {3, 4, 5, 6})
  void moreRandomRowsAgree(int seed) {
    randomRowsAgree(seed);
  }

  /** Padding counts in no maximum and in no sum, even if all elements are less than it was. */
  @Tag("thorough")
  @ParameterizedTest
  @CsvSource({"5, f32", "70, bf16"})
  void paddingTakesNoPartInSoftmaxes(int columns, String element) {
    Module module =
        PirParser.parse(
            """
            pir 1
            module {
              graph @softmax(%x: f32[2,3,N]) -> ("y": f32[2,3,N], "sums": f32[2,3]) {
                %0 = softmax(%x) {axis = 2} : f32[2,3,N] "y"
                %1 = reduce_sum(%0) {axes = [2]} : f32[2,3] "sums"
                return %0, %1
              }
            }
            """
                .replaceAll("\\bN\\b", "" + columns)
                .replace("f32", element));
    EmulatedProgram program = GridPrograms.build(emit(module, TargetLibrary.find("n150")), scratch);
    double least = element.equals("f32") ? -Float.MAX_VALUE : -0x1.fep127;
    for (double offset : new double[] {-0x1p6, 0, 0x1p6, least}) {
      double[] x = new double[6 * columns];
      Arrays.setAll(x, i -> offset + (i % 7 - 3) * 0.5);
      List<Tensor> inputs = List.of(Tensor.ofDoubles(module.graph().inputs().getFirst().type(), x));
      List<Tensor> found = program.run(inputs, LIMIT);
      double[] expected = Evaluator.run(module.graph(), inputs).getFirst().doubles();
      assertThat(found.getFirst().doubles()).containsExactly(expected, within(0.01));
      double[] ones = new double[6];
      Arrays.fill(ones, 1);
      assertThat(found.getLast().doubles()).containsExactly(ones, within(0.01));
      EmittedKernelsTest.assertLaunchesAgree(program, inputs);
    }
  }

  private void assertAgrees(Module module, TargetDescription target, String element) {
    EmulatedProgram program = GridPrograms.build(emit(module, target), scratch);
    Random random = new Random(3);
    List<Tensor> inputs = EmittedKernelsTest.gaussians(random, module);
    double[] expected = Evaluator.run(module.graph(), inputs).getFirst().doubles();
    double[] found = program.run(inputs, LIMIT).getFirst().doubles();
    assertThat(Correlation.of(expected, found))
        .isGreaterThan(element.equals("f32") ? 0.99999 : 0.999);
    EmittedKernelsTest.assertLaunchesAgree(program, inputs);
  }
}
