package io.partita.backend.metalium;

import static io.partita.backend.metalium.GridPrograms.target;
import static org.assertj.core.api.Assertions.assertThat;

import io.partita.ir.eval.Evaluator;
import io.partita.ir.graph.Module;
import io.partita.ir.target.TargetDescription;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.text.PirParser;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Products in blocks on grids of cores, of which some read blocks for others. */
@Tag("thorough")
class BlockedProductsTest {
  private static final Duration LIMIT = Duration.ofMinutes(2);

  @TempDir Path scratch;

  /** A product with a bias, an activation, a residual and a sum with itself from the left. */
  private static Module product(int rows, int depth, int columns, String element) {
    return PirParser.parse(
        """
        pir 1
        module {
          graph @product(%x: f32[M,K], %w: f32[K,N], %r: f32[M,N]) -> ("y": f32[M,N]) {
            %0 = constant BIAS : f32[N] "bias"
            %1 = linear(%x, %w, %0) {bias} : f32[M,N] "product"
            %2 = relu(%1) : f32[M,N] "relu"
            %3 = sub(%r, %2) : f32[M,N] "y"
            return %3
          }
        }
        """
            .replace("BIAS", numbers(new Random(columns), columns))
            .replaceAll("\\bM\\b", "" + rows)
            .replaceAll("\\bK\\b", "" + depth)
            .replaceAll("\\bN\\b", "" + columns)
            .replace("f32", element));
  }

  private static String numbers(Random random, int count) {
    return random
        .ints(count, -2, 3)
        .mapToObj(each -> each + ".0")
        .collect(Collectors.joining(", ", "[", "]"));
  }

  /** Small integers, whose sums are exact in any order. */
  private static List<Tensor> integers(Module module, Random random) {
    return module.graph().inputs().stream()
        .map(
            input ->
                Tensor.ofDoubles(
                    input.type(),
                    random.ints(input.type().shape().elements(), -2, 3).asDoubleStream().toArray()))
        .toList();
  }

  private String assertExact(Module module, TargetDescription target) throws IOException {
    EmittedMetalium emitted = GridPrograms.emit(module, target);
    EmulatedProgram program = GridPrograms.build(emitted, scratch);
    List<Tensor> inputs = integers(module, new Random(3));
    assertThat(program.run(inputs, LIMIT)).isEqualTo(Evaluator.run(module.graph(), inputs));
    EmittedKernelsTest.assertLaunchesAgree(program, inputs);
    return GridPrograms.host(emitted);
  }

  /** One core, a row, a column, and more rows or columns than a product has blocks. */
  @ParameterizedTest
  @CsvSource({
    "1, 1, 70, 100, 130, '1, 1', ''",
    "2, 3, 280, 97, 120, '2, 3', '0, 1'",
    "8, 9, 260, 40, 200, '7, 9', '0, 1'",
    "8, 9, 1, 300, 2290, '72, 1', '0'"
  })
  void blocksOfAllCoresAreExact(
      int columns, int rows, int m, int k, int n, String cores, String shared) throws IOException {
    String host = assertExact(product(m, k, n, "f32"), target(columns, rows, 1 << 20));
    if (shared.isEmpty()) {
      assertThat(host).doesNotContain(".shared");
    } else {
      assertThat(host).contains(".shared = {" + shared + "}");
    }
    MatchResult found =
        Pattern.compile("\\.columns = (\\d+),\\s+\\.rows = (\\d+),")
            .matcher(host)
            .results()
            .findFirst()
            .orElseThrow();
    assertThat(found.group(1) + ", " + found.group(2)).isEqualTo(cores);
  }

  @Tag("exhaustive")
  @ParameterizedTest
  @CsvSource({
    "3, 1, 33, 65, 290, '3, 1', '0'",
    "1, 3, 290, 65, 33, '1, 3', '1'",
    "3, 2, 120, 97, 280, '3, 2', '0, 1'",
    "8, 9, 2290, 300, 1, '1, 72', '1'"
  })
  void blocksOfOtherGridsAreExact(
      int columns, int rows, int m, int k, int n, String cores, String shared) throws IOException {
    blocksOfAllCoresAreExact(columns, rows, m, k, n, cores, shared);
  }

  /** L1 has room for a part of the depth only, and cores have several blocks of both directions. */
  @ParameterizedTest
  @ValueSource(strings = {"f32", "bf16"})
  void sumsInSeveralPartsAreExact(String element) throws IOException {
    String host = assertExact(product(230, 500, 390, element), target(2, 2, 72 * 1024));
    assertThat(host).contains("linear_mcast_", "linear_partials_", "{24, ");
  }

  /** Numbers are rows of tiles in L1, too, which is full. */
  @Test
  void rowsOfOneNumberFitL1() throws IOException {
    Module module =
        PirParser.parse(
            """
            pir 1
            module {
              graph @product(%x: f32[200,300], %w: f32[300,900]) -> ("y": f32[200,900]) {
                %0 = constant [0.5] : f32[1] "half"
                %1 = linear(%x, %w) : f32[200,900] "product"
                %2 = mul(%1, %0) : f32[200,900] "scaled"
                %3 = max(%2, %0) : f32[200,900] "y"
                return %3
              }
            }
            """);
    assertThat(assertExact(module, target(8, 9, 64 * 1024))).contains("_mul_row_max_row_compute");
  }

  /**
   * Numbers that round to integers are part of the kernel and take nothing of L1, which is full.
   */
  @Test
  void roundedProductsFitL1() throws IOException {
    Module module =
        PirParser.parse(
            """
            pir 1
            module {
              graph @product(%x: f32[200,300], %w: f32[300,901]) -> ("y": f32[200,901]) {
                %0 = constant [0.3] : f32[1] "third"
                %1 = linear(%x, %w) : f32[200,901] "product"
                %2 = mul(%1, %0) : f32[200,901] "scaled"
                %3 = round(%2) : f32[200,901] "rounded"
                %4 = add(%3, %0) : f32[200,901] "y"
                return %4
              }
            }
            """);
    assertThat(assertExact(module, target(8, 9, 64 * 1024)))
        .contains("_mul_row_round_add_row_compute");
  }

  /** Random shapes that aren't whole tiles, on random grids with random memory. */
  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3})
  void randomProductsAreExact(int seed) throws IOException {
    Random random = new Random(seed);
    Module module =
        product(
            1 + random.nextInt(300),
            1 + random.nextInt(300),
            1 + random.nextInt(500),
            random.nextBoolean() ? "f32" : "bf16");
    assertExact(
        module,
        target(1 + random.nextInt(4), 1 + random.nextInt(4), (64 + random.nextInt(200)) * 1024L));
  }

  @Tag("exhaustive")
  @ParameterizedTest
  @ValueSource(ints = {4, 5, 6, 7, 8, 9, 10, 11, 12})
  void moreRandomProductsAreExact(int seed) throws IOException {
    randomProductsAreExact(seed);
  }
}
