package io.partita.backend.metalium;

import static io.partita.backend.metalium.GridPrograms.blocks;
import static io.partita.backend.metalium.GridPrograms.emit;
import static io.partita.backend.metalium.GridPrograms.target;
import static org.assertj.core.api.Assertions.assertThat;

import io.partita.ir.graph.Module;
import io.partita.ir.target.TargetDescription;
import io.partita.ir.text.PirParser;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Functions of elements, rotary embeddings and other shapes, in blocks of tiles. */
class BlockedTilesTest {
  @TempDir Path scratch;

  private static Module elements(int rows, int columns, String element) {
    return PirParser.parse(
        """
        pir 1
        module {
          graph @elements(%x: f32[M,N], %z: f32[M,N]) -> ("y": f32[M,N], "turned": f32[N,M]) {
            %0 = constant [0.5] : f32[1] "half"
            %1 = sub(%x, %z) : f32[M,N] "difference"
            %2 = mul(%1, %0) : f32[M,N] "halves"
            %3 = transpose(%x) {permutation = [1, 0]} : f32[N,M] "turned"
            return %2, %3
          }
        }
        """
            .replaceAll("\\bM\\b", "" + rows)
            .replaceAll("\\bN\\b", "" + columns)
            .replace("f32", element));
  }

  private static Module rotary(int heads, int tokens, int features) {
    return PirParser.parse(
        """
        pir 1
        module {
          graph @rotary(%x: f32[1,H,T,D], %cos: f32[1,T,E], %sin: f32[1,T,E]) -> ("y": f32[1,H,T,D]) {
            %0 = rotary_embedding(%x, %cos, %sin) : f32[1,H,T,D] "rotated"
            return %0
          }
        }
        """
            .replaceAll("\\bH\\b", "" + heads)
            .replaceAll("\\bT\\b", "" + tokens)
            .replaceAll("\\bD\\b", "" + features)
            .replaceAll("\\bE\\b", "" + features / 2));
  }

  /** A row of tiles is on all cores, and so is a column; tiles of both are on both directions. */
  @ParameterizedTest
  @CsvSource({
    "1, 700, '22, 1, 1, 1'",
    "1, 2304, '72, 1, 1, 1'",
    "700, 1, '1, 22, 1, 1'",
    "280, 250, '8, 9, 1, 1'",
    "576, 512, '8, 9, 2, 1'"
  })
  void elementsAreDealtAsTheScheduleSays(int rows, int columns, String expected)
      throws IOException {
    List<List<String>> found = blocks(emit(elements(rows, columns, "f32"), target(8, 9, 1 << 20)));
    assertThat(String.join(", ", found.getFirst().subList(0, 4))).isEqualTo(expected);
  }

  /** To the schedule, a transpose is a copy whose tiles aren't those of the matrix. */
  @Test
  void otherShapesAreDealtPageByPage() throws IOException {
    assertThat(blocks(emit(elements(280, 250, "f32"), target(8, 9, 1 << 20))).getLast())
        .containsExactly("8", "8", "1", "1", "");
  }

  /** Cores with several blocks, of several tiles, or none. */
  @Tag("thorough")
  @ParameterizedTest
  @CsvSource("2, 2, 190, 240, bf16, 1048576")
  void elementsOfAllCoresAgree(
      int columns, int rows, int m, int n, String element, long bytesOfCore) {
    assertAgrees(elements(m, n, element), target(columns, rows, bytesOfCore));
  }

  @Tag("exhaustive")
  @ParameterizedTest
  @CsvSource({
    "1, 1, 70, 64, f32, 1048576",
    "3, 1, 33, 165, f32, 32768",
    "8, 9, 260, 333, f32, 65536",
    "3, 2, 400, 396, f32, 131072"
  })
  void elementsOfOtherGridsAgree(
      int columns, int rows, int m, int n, String element, long bytesOfCore) {
    elementsOfAllCoresAgree(columns, rows, m, n, element, bytesOfCore);
  }

  @Tag("thorough")
  @ParameterizedTest
  @ValueSource(ints = 2)
  void randomElementsAgree(int seed) {
    Random random = new Random(seed);
    assertAgrees(
        elements(
            1 + random.nextInt(300),
            1 + random.nextInt(300),
            random.nextBoolean() ? "f32" : "bf16"),
        target(1 + random.nextInt(4), 1 + random.nextInt(4), (32 + random.nextInt(200)) * 1024L));
  }

  @Tag("exhaustive")
  @ParameterizedTest
  @ValueSource(ints = {1, 3, 4, 5, 6})
  void moreRandomElementsAgree(int seed) {
    randomElementsAgree(seed);
  }

  /** Heads whose tokens aren't whole tiles, one after the other. */
  @Tag("thorough")
  @ParameterizedTest
  @CsvSource("3, 2, 5, 33, 64, 1048576")
  void rotatedHeadsAgree(
      int columns, int rows, int heads, int tokens, int features, long bytesOfCore) {
    assertAgrees(rotary(heads, tokens, features), target(columns, rows, bytesOfCore));
  }

  @Tag("exhaustive")
  @ParameterizedTest
  @CsvSource({"1, 1, 8, 1, 32, 1048576", "8, 9, 8, 64, 64, 1048576", "2, 1, 3, 100, 48, 131072"})
  void moreRotatedHeadsAgree(
      int columns, int rows, int heads, int tokens, int features, long bytesOfCore) {
    rotatedHeadsAgree(columns, rows, heads, tokens, features, bytesOfCore);
  }

  private void assertAgrees(Module module, TargetDescription target) {
    EmulatedProgram program = GridPrograms.build(emit(module, target), scratch);
    EmittedKernelsTest.assertLaunchesAgree(
        program, EmittedKernelsTest.gaussians(new Random(3), module));
  }
}
