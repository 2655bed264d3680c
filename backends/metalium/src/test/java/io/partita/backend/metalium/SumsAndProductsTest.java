package io.partita.backend.metalium;

import static org.assertj.core.api.Assertions.assertThat;

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
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Products of two activations, sums and means, which are products with ones, and broadcasts. */
class SumsAndProductsTest {
  private static final Duration LIMIT = Duration.ofMinutes(2);

  @TempDir Path scratch;

  /** Of two sequences and three heads, as exporters write relative positions and pooling. */
  @ParameterizedTest
  @CsvSource({"f32, 0.99999", "bf16, 0.999"})
  void batchesAgree(String element, double correlation) {
    assertAgrees(
        """
        pir 1
        module {
          graph @scores(%q: ELEMENT[2,3,5,7], %k: ELEMENT[2,3,9,7], %x: ELEMENT[2,17,40]) -> ("scores": ELEMENT[2,3,5,9],
              "shared": ELEMENT[2,3,5,7], "mean": ELEMENT[2,40], "tokens": ELEMENT[2,17,1], "all": ELEMENT[1,1,1]) {
            %t = transpose(%k) {permutation = [0, 1, 3, 2]} : ELEMENT[2,3,7,9] "t"
            %0 = matmul(%q, %t) {result = ELEMENT} : ELEMENT[2,3,5,9] "scores"
            %s = slice(%k) {starts = [1, 1, 0, 0], sizes = [1, 1, 9, 7], steps = [1, 1, 1, 1]} : ELEMENT[1,1,9,7] "s"
            %1 = matmul(%0, %s) {result = ELEMENT} : ELEMENT[2,3,5,7] "shared"
            %2 = reduce_mean(%x) {axes = [1]} : ELEMENT[2,40] "mean"
            %3 = reduce_sum(%x) {axes = [2], keep_dims} : ELEMENT[2,17,1] "tokens"
            %4 = reduce_mean(%x) {axes = [0, 1, 2], keep_dims} : ELEMENT[1,1,1] "all"
            return %0, %1, %2, %3, %4
          }
        }
        """,
        element, correlation);
  }

  /** Of zeros beyond the last row, a quotient isn't a number, which a sum would keep. */
  @Tag("thorough")
  @ParameterizedTest
  @CsvSource({"f32, 0.99999", "bf16, 0.999"})
  void paddingOfQuotientsTakesNoPart(String element, double correlation) {
    assertAgrees(
        """
        pir 1
        module {
          graph @mean(%x: ELEMENT[1,17,64], %z: ELEMENT[1,17,64]) -> ("mean": ELEMENT[1,64]) {
            %0 = mul(%z, %z) : ELEMENT[1,17,64] "square"
            %1 = exp(%0) : ELEMENT[1,17,64] "power"
            %2 = sub(%1, %z) : ELEMENT[1,17,64] "divisor"
            %3 = mul(%2, %z) : ELEMENT[1,17,64] "zero at zero"
            %4 = div(%x, %3) : ELEMENT[1,17,64] "quotient"
            %5 = add(%4, %x) : ELEMENT[1,17,64] "sum"
            %6 = reduce_mean(%5) {axes = [1]} : ELEMENT[1,64] "mean"
            return %6
          }
        }
        """,
        element, correlation);
  }

  /** Rows and columns that count several times, negation, and powers. */
  @Tag("thorough")
  @ParameterizedTest
  @CsvSource({"f32, 0.99999", "bf16, 0.999"})
  void broadcastsAgree(String element, double correlation) {
    assertAgrees(
        """
        pir 1
        module {
          graph @norms(%x: ELEMENT[2,3,5,40], %y: ELEMENT[2,1,5,40], %angles: ELEMENT[2,5,20]) -> ("normal": ELEMENT[2,3,5,40], "turned": ELEMENT[2,3,5,40]) {
            %two = constant 2.0 : ELEMENT[] "two"
            %0 = pow(%x, %two) : ELEMENT[2,3,5,40] "square"
            %1 = reduce_sum(%0) {axes = [3], keep_dims} : ELEMENT[2,3,5,1] "sum"
            %half = constant 0.5 : ELEMENT[] "half"
            %2 = pow(%1, %half) : ELEMENT[2,3,5,1] "norm"
            %3 = mul(%x, %2) : ELEMENT[2,3,5,40] "scaled"
            %4 = neg(%y) : ELEMENT[2,1,5,40] "negative"
            %5 = sub(%4, %3) : ELEMENT[2,3,5,40] "normal"
            %6 = reshape(%angles) {to = [2, 1, 5, 20, 1]} : ELEMENT[2,1,5,20,1] "column"
            %7 = broadcast(%6) {to = [2, 1, 5, 20, 2]} : ELEMENT[2,1,5,20,2] "twice"
            %8 = reshape(%7) {to = [2, 1, 5, 40]} : ELEMENT[2,1,5,40] "pairs"
            %9 = mul(%8, %x) : ELEMENT[2,3,5,40] "turned"
            return %5, %9
          }
        }
        """,
        element, correlation);
  }

  /** Relative positions, as DeBERTa takes them of products: each query has others. */
  @Tag("thorough")
  @ParameterizedTest
  @CsvSource({"f32, 0.99999", "bf16, 0.999"})
  void placesAlongAnAxisAgree(String element, double correlation) {
    assertAgrees(
        """
        pir 1
        module {
          graph @places(%x: ELEMENT[4,3,8], %z: ELEMENT[4,8,3]) -> ("columns": ELEMENT[4,3,3], "rows": ELEMENT[4,3,3]) {
            %c = constant [3, 2, 1, 4, 3, 2, 5, 4, 3] : i64[1,3,3] "places"
            %p = broadcast(%c) {to = [4, 3, 3]} : i64[4,3,3] "each"
            %0 = gather_elements(%x, %p) {axis = 2} : ELEMENT[4,3,3] "columns"
            %1 = gather_elements(%z, %p) {axis = 1} : ELEMENT[4,3,3] "rows"
            return %0, %1
          }
        }
        """,
        element, correlation);
  }

  private void assertAgrees(String text, String element, double correlation) {
    Module module = PirParser.parse(text.replace("ELEMENT", element));
    Path folder = scratch.resolve("program");
    EmittedMetalium emitted = EmittedKernelsTest.emit(module);
    OutputFolder.write(emitted.files(), folder, path -> false);
    EmulatedProgram program = EmulatedProgram.build(folder, emitted.description().whole());
    List<Tensor> inputs = EmittedKernelsTest.gaussians(new Random(8), module);
    List<Tensor> expected = Evaluator.run(module.graph(), inputs);
    List<Tensor> found = program.run(inputs, LIMIT);
    for (int output = 0; output < expected.size(); output++) {
      double[] numbers = expected.get(output).doubles();
      if (numbers.length > 1) {
        assertThat(Correlation.of(numbers, found.get(output).doubles())).isGreaterThan(correlation);
      }
    }
    EmittedKernelsTest.assertLaunchesAgree(program, inputs);
  }
}
