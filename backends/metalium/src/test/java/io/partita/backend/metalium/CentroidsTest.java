package io.partita.backend.metalium;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.partita.ir.eval.Evaluator;
import io.partita.ir.file.EmittedFile;
import io.partita.ir.file.OutputFolder;
import io.partita.ir.golden.GoldenFile;
import io.partita.ir.graph.Module;
import io.partita.ir.op.Contraction;
import io.partita.ir.program.Program;
import io.partita.ir.target.TargetLibrary;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.text.PirParser;
import io.partita.ir.type.Shape;
import io.partita.passes.program.localize.Localization;
import io.partita.passes.program.localize.Localize;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tokens as the numbers of their nearest centroids, and back. */
class CentroidsTest {
  private static final Duration LIMIT = Duration.ofMinutes(2);

  @TempDir Path scratch;

  private static Module module(
      int tokens, int groups, int size, int width, double[] centroids, String element) {
    String text =
        """
        pir 1
        module {
          graph @centroids(%x: E[1,T,F]) -> ("codes": E[1,T,G], "y": E[1,T,F]) {
            %centroids = constant CENTROIDS : f32[GK,W] "centroids"
            %starts = constant STARTS : i32[G] "starts"
            CAST
            %0 = nearest_centroid(%f, %centroids) {groups = G} : i32[1,T,G] "nearest"
            %1 = cast(%0) {to = E} : E[1,T,G] "codes"
            %2 = add(%0, %starts) : i32[1,T,G] "rows"
            %3 = gather(%centroids, %2) {axis = 0} : f32[1,T,G,W] "found"
            %4 = reshape(%3) {to = [1, T, F]} : f32[1,T,F] "flat"
            ROUND
            return %1, %y
          }
        }
        """;
    boolean isF32 = element.equals("f32");
    text =
        text.replace("ROUND", isF32 ? "" : "%y = cast(%4) {to = bf16} : bf16[1,T,F] \"y\"")
            .replace(", %y", isF32 ? ", %4" : ", %y")
            .replace("flat", isF32 ? "y" : "flat")
            .replace("CAST", isF32 ? "" : "%f = cast(%x) {to = f32} : f32[1,T,F] \"wide\"")
            .replace("%f,", isF32 ? "%x," : "%f,");
    Map<String, Integer> extents =
        Map.of("T", tokens, "G", groups, "W", width, "F", groups * width, "GK", groups * size);
    for (Map.Entry<String, Integer> extent : extents.entrySet()) {
      text = text.replaceAll("\\b" + extent.getKey() + "\\b", "" + extent.getValue());
    }
    String starts =
        IntStream.range(0, groups).map(group -> group * size).boxed().toList().toString();
    return PirParser.parse(
        text.replace("STARTS", starts)
            .replaceAll("\\bE\\b", element)
            .replace("CENTROIDS", text(centroids)));
  }

  private static String text(double[] numbers) {
    return Arrays.stream(numbers)
        .mapToObj(each -> Float.toString((float) each))
        .collect(Collectors.joining(", ", "[", "]"));
  }

  private static double[] uniform(int seed, int count) {
    return new Random(seed).doubles(count, -2, 2).toArray();
  }

  /** Three groups of 20 features, which share tiles, and 40 centroids for each. */
  static Module centroids() {
    return module(35, 3, 40, 20, uniform(7, 3 * 40 * 20), "f32");
  }

  private EmulatedProgram built(Module module) {
    Path folder = scratch.resolve("program");
    EmittedMetalium emitted = EmittedKernelsTest.emit(module);
    OutputFolder.write(emitted.files(), folder, path -> false);
    return EmulatedProgram.build(folder, emitted.description().whole());
  }

  @Test
  void kernelsOfCentroidsAreReadable() throws IOException {
    StringBuilder text = new StringBuilder();
    for (EmittedFile file : EmittedKernelsTest.emit(centroids()).files()) {
      if (file.path().matches("kernels/(nearest|lookup).*|emulation.cpp")) {
        text.append("// ").append(file.path()).append('\n').append(file.text()).append('\n');
      }
    }
    GoldenFile.of("centroids.golden").assertMatches("n150", text.toString());
  }

  /**
   * Codes are Java's, since no two centroids are about as near: also of more than 256 centroids, of
   * groups that begin within a tile, and of features that are no whole tile.
   */
  @Tag("thorough")
  @ParameterizedTest
  @CsvSource("35, 3, 40, 20")
  void codesAndCentroidsAreThoseOfTheReference(int tokens, int groups, int size, int width) {
    assertCodesAreExact(tokens, groups, size, width, "f32");
  }

  @Tag("exhaustive")
  @ParameterizedTest
  @CsvSource({"64, 1, 256, 64", "5, 2, 300, 8", "3, 33, 2, 3", "7, 16, 1024, 8"})
  void moreCodesAndCentroidsAreThoseOfTheReference(int tokens, int groups, int size, int width) {
    codesAndCentroidsAreThoseOfTheReference(tokens, groups, size, width);
  }

  private void assertCodesAreExact(int tokens, int groups, int size, int width, String element) {
    double[] centroids = uniform(7, groups * size * width);
    Module module = module(tokens, groups, size, width, centroids, element);
    EmulatedProgram program = built(module);
    List<Tensor> inputs =
        List.of(EmittedKernelsTest.gaussian(new Random(4), module.graph().inputs().getFirst()));
    assertThat(program.run(inputs, LIMIT)).isEqualTo(Evaluator.run(module.graph(), inputs));
    EmittedKernelsTest.assertLaunchesAgree(program, inputs);
  }

  /** Of centroids that are equally near, the first one is taken; all scores are exact. */
  @Tag("thorough")
  @Test
  void theFirstOfEqualCentroidsIsTaken() {
    double[] centroids = {2, 2, 0, 0, 2, 0, 0, 0, 0, 2, 2, 2, 0, 0};
    Module module = module(5, 1, 7, 2, centroids, "f32");
    Tensor x = Tensor.floats(Shape.of(1, 5, 2), 2, 2, 0, 0, 1, 0, 1, 1, 0.5f, 2);
    assertThat(built(module).run(List.of(x), LIMIT).getFirst().doubles())
        .isEqualTo(Evaluator.run(module.graph(), List.of(x)).getFirst().doubles())
        .containsExactly(0, 1, 1, 0, 4);
  }

  /** One group whose vectors, and one whose centroids have bits that no source register holds. */
  @Tag("thorough")
  @Test
  void allBitsOfBothOperandsCount() {
    Module module = module(3, 2, 2, 1, new double[] {0, 2, 0, 2 - 0x1p-11}, "f32");
    Tensor x =
        Tensor.floats(
            Shape.of(1, 3, 2), 1 + 0x1p-12f, 1, 1 - 0x1p-12f, 1 - 0x1p-11f, 1 + 0x1p-20f, 0);
    assertThat(built(module).run(List.of(x), LIMIT).getFirst().doubles())
        .isEqualTo(Evaluator.run(module.graph(), List.of(x)).getFirst().doubles())
        .containsExactly(1, 1, 0, 0, 1, 0);
  }

  private static Interval[] codes(KernelArithmetic arithmetic, float[] x, float... centroids) {
    int size = centroids.length / x.length;
    Tensor vectors = Tensor.floats(Shape.of(1, x.length), x);
    Tensor book = Tensor.floats(Shape.of(size, x.length), centroids);
    return new CentroidIntervals(arithmetic)
        .codes(
            new Contraction.NearestCentroid(1),
            List.of(Intervals.exactly(vectors), Intervals.exactly(book)))
        .elements();
  }

  /**
   * The distances of 1 from the ends of [0, 2] are equal. Differences of 2^-12 are certain, since
   * kernels read all bits; those of 2^-23 aren't.
   */
  @Test
  void codesAreCertainUnlessCentroidsAreAboutAsNear() {
    float[] one = {1};
    assertThat(codes(KernelArithmetic.F32, one, 0, 2 - 0x1p-12f)).containsExactly(Interval.of(1));
    assertThat(codes(KernelArithmetic.F32, one, 0, 2 + 0x1p-12f)).containsExactly(Interval.of(0));
    assertThat(codes(KernelArithmetic.F32, one, 5, 0, 2 - 0x1p-22f, 7))
        .containsExactly(new Interval(1, 2));
    assertThat(codes(KernelArithmetic.EXACT, one, 5, 0, 2 - 0x1p-22f, 7))
        .containsExactly(Interval.of(2));
  }

  /**
   * In a model of bf16, distances are f32 and so are centroids, whose bits all count: codes are
   * Java's, and what they stand for is rounded to bf16 once.
   */
  @Tag("thorough")
  @ParameterizedTest
  @CsvSource("5, 2, 128, 8")
  void codesOfBf16AreThoseOfTheReference(int tokens, int groups, int size, int width) {
    assertCodesAreExact(tokens, groups, size, width, "bf16");
  }

  @Tag("exhaustive")
  @ParameterizedTest
  @CsvSource({"35, 3, 40, 20", "64, 1, 256, 64", "3, 33, 2, 3"})
  void moreCodesOfBf16AreThoseOfTheReference(int tokens, int groups, int size, int width) {
    codesOfBf16AreThoseOfTheReference(tokens, groups, size, width);
  }

  /** 1 is nearer to the second centroid by 2^-13, of which bf16 would have nothing. */
  @Tag("thorough")
  @Test
  void allBitsOfCentroidsCountInBf16() {
    Module module = module(2, 2, 2, 1, new double[] {0, 2 - 0x1p-12, 0, 2 + 0x1p-12}, "bf16");
    Tensor x =
        Tensor.ofDoubles(module.graph().inputs().getFirst().type(), new double[] {1, 1, 2, -1});
    assertThat(built(module).run(List.of(x), LIMIT).getFirst().doubles())
        .containsExactly(1, 0, 1, 0);
  }

  /** Chips send the numbers of their tokens' centroids; those of groups follow each other. */
  @Tag("thorough")
  @ParameterizedTest
  @CsvSource("3, bf16")
  void codesTravelBetweenChips(int chips, String element) {
    String text =
        """
        pir 1
        module {
          mesh(x=N)
          graph @codes(%x: E[T{x},40]) -> ("y": E[T,40]) {
            %centroids = constant CENTROIDS : f32[128,20] "centroids"
            %starts = constant [0, 64] : i32[2] "starts"
            %mask = constant 63 : u8[]
            %f = cast(%x) {to = f32} : f32[T{x},40] "wide"
            %0 = nearest_centroid(%f, %centroids) {groups = 2} : i32[T{x},2] "nearest"
            %1 = cast(%0) {to = u8} : u8[T{x},2] "codes"
            %2 = sync(%1) {kind = "all_gather(x)", to = "[*,*]", algorithm = "direct"} : u8[T,2] "gathered"
            %8 = bit_and(%2, %mask) : u8[T,2] "masked"
            %3 = cast(%8) {to = i32} : i32[T,2] "indices"
            %4 = add(%3, %starts) : i32[T,2] "rows"
            %5 = gather(%centroids, %4) {axis = 0} : f32[T,2,20] "found"
            %6 = reshape(%5) {to = [T, 40]} : f32[T,40] "flat"
            %7 = cast(%6) {to = E} : E[T,40] "y"
            return %7
          }
        }
        """
            .replace("CENTROIDS", text(uniform(7, 128 * 20)))
            .replaceAll("\\bN\\b", "" + chips)
            .replaceAll("\\bT\\b", "" + 5 * chips)
            .replaceAll("\\bE\\b", element);
    if (element.equals("f32")) {
      text = text.replaceAll(" *%(f|7) = .*\\n", "").replace("%f,", "%x,").replace("%7", "%6");
    }
    Program program = Localization.of(PirParser.parse(text), Localize.CAPACITY);
    EmittedMetalium emitted =
        new MetaliumBackend(TargetLibrary.find("n150:chips=8")).emit(program, Optional.empty());
    Path folder = scratch.resolve("program");
    OutputFolder.write(emitted.files(), folder, path -> false);
    EmulatedProgram emulated = EmulatedProgram.build(folder, emitted.description().whole());
    String alone =
        text.replaceAll(" *mesh.*\\n", "")
            .replace("{x}", "")
            .replaceAll("sync\\(%1\\) \\{.*\\}", "reshape(%1) {to = [" + 5 * chips + ", 2]}");
    Module whole = PirParser.parse(alone);
    List<Tensor> inputs =
        List.of(EmittedKernelsTest.gaussian(new Random(4), whole.graph().inputs().getFirst()));
    assertThat(emulated.run(inputs, LIMIT)).isEqualTo(Evaluator.run(whole.graph(), inputs));
    EmittedKernelsTest.assertLaunchesAgree(emulated, inputs);
  }

  @Tag("exhaustive")
  @ParameterizedTest
  @CsvSource({"2, f32", "2, bf16"})
  void codesTravelBetweenTwoChips(int chips, String element) {
    codesTravelBetweenChips(chips, element);
  }

  /** Kernels read rows of the table, which wouldn't fit L1 in pages of 32 columns. */
  @Test
  void largeCodebooksFit() throws IOException {
    Module module = module(7, 16, 1024, 8, uniform(7, 16 * 1024 * 8), "f32");
    assertThat(EmittedKernelsTest.emit(module).files())
        .anyMatch(file -> file.path().equals("kernels/lookup_reader.cpp"));
  }

  /** There are indices that bf16 doesn't have. */
  @Test
  void centroidsWithoutNumbersInBf16AreReported() {
    Module module = module(5, 2, 300, 8, uniform(7, 2 * 300 * 8), "bf16");
    assertThatThrownBy(() -> EmittedKernelsTest.emit(module))
        .hasMessageContaining("error P52")
        .hasMessageContaining("i32[1,5,2]");
  }
}
