package io.partita.backend.metalium;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.partita.backend.emitted.probe.Finding;
import io.partita.ir.file.EmittedFile;
import io.partita.ir.graph.Module;
import io.partita.ir.target.TargetChange;
import io.partita.ir.target.TargetDescription;
import io.partita.ir.target.TargetLibrary;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.text.PirParser;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Products whose sums are in destination registers of 16 bits, and kernels that keep 32. */
class SumsInBf16Test {
  private static final Duration LIMIT = Duration.ofMinutes(2);

  @TempDir Path scratch;

  /** A product, alone or with a bias, an activation and a residual. */
  static Module product(int rows, int depth, int columns, boolean isFused) {
    String fused =
        """
            %b = constant BIAS : bf16[N] "bias"
            %1 = linear(%x, %w, %b) {bias} : bf16[M,N] "product"
            %2 = silu(%1) : bf16[M,N] "silu"
            %3 = add(%2, %r) : bf16[M,N] "y"
        """;
    return PirParser.parse(
        """
        pir 1
        module {
          graph @product(%x: bf16[M,K], %w: bf16[K,N], %r: bf16[M,N]) -> ("y": bf16[M,N]) {
        PRODUCT    return %3
          }
        }
        """
            .replace(
                "PRODUCT", isFused ? fused : "    %3 = linear(%x, %w) : bf16[M,N] \"product\"\n")
            .replace("BIAS", bias(columns))
            .replaceAll("\\bM\\b", "" + rows)
            .replaceAll("\\bK\\b", "" + depth)
            .replaceAll("\\bN\\b", "" + columns));
  }

  private static String bias(int columns) {
    return new Random(columns)
        .ints(columns, -9, 10)
        .mapToObj(each -> each / 4.0 + "")
        .collect(Collectors.joining(", ", "[", "]"));
  }

  private static TargetDescription target(int columns, int rows, long bytesOfCore) {
    return TargetChange.withSumBits(GridPrograms.target(columns, rows, bytesOfCore), Short.SIZE);
  }

  private static EmittedMetalium emit(Module module) {
    return GridPrograms.emit(
        module, TargetChange.withSumBits(TargetLibrary.find("n150"), Short.SIZE));
  }

  private static String text(EmittedMetalium emitted, String path) throws IOException {
    for (EmittedFile file : emitted.files()) {
      if (file.path().equals(path)) {
        return file.text();
      }
    }
    throw new AssertionError(path);
  }

  private static long count(String text, String part) {
    return Pattern.compile(part, Pattern.LITERAL).matcher(text).results().count();
  }

  /** Both host programs say so, and parts of blocks are those of 8 registers, of which 1 spare. */
  @ParameterizedTest
  @CsvSource({"false, 8", "true, 7"})
  void hostsAskFor16Bits(boolean isFused, int registers) throws IOException {
    EmittedMetalium emitted =
        GridPrograms.emit(product(32, 64, 640, isFused), target(1, 1, 1 << 20));
    assertThat(GridPrograms.host(emitted)).contains(".fp32_dest_acc_en = false,");
    assertThat(text(emitted, "model.py"))
        .contains("    fp32_dest_acc_en=False,", "precise(direct, fp32_dest_acc_en)");
    String sizes = "sizes=\\[1, 20, 2, 1, \\d+, 2, 1, " + registers + ", ";
    assertThat(text(emitted, "model.py")).containsPattern(sizes);
  }

  /** Sums that are kept between parts of the depth are of the elements' type, as registers are. */
  @Test
  void keptSumsHave16Bits() throws IOException {
    EmittedMetalium emitted =
        GridPrograms.emit(product(230, 500, 390, true), target(2, 2, 48 * 1024));
    assertThat(GridPrograms.host(emitted))
        .contains("linear_partials_")
        .containsPattern("\\{24, \\d+\\}\\},\n +\\.direct = \\{\\},");
    assertThat(GridPrograms.host(emitted)).doesNotContain("Float32");
  }

  /** Norms, softmaxes, attention and functions of elements ask for 32 bits as ever. */
  @Test
  void otherKernelsKeep32Bits() throws IOException {
    String block = GridPrograms.host(emit(EmittedKernelsTest.feedForward(40, "bf16")));
    assertThat(count(block, ".fp32_dest_acc_en = false"))
        .isEqualTo(count(block, ".compute = linear_"))
        .isPositive();
    assertThat(block).containsPattern("\\.compute = (?!linear)");
    for (Module module :
        List.of(
            EmittedKernelsTest.layerNorm(40, 72, true, "bf16"),
            EmittedKernelsTest.attention(5, 4, 4, 16, 64, "bf16"))) {
      assertThat(GridPrograms.host(emit(module))).doesNotContain("fp32_dest_acc_en");
    }
  }

  /**
   * To 256, each face of 16 products adds 1, which 16 bits lose. The tolerance has that loss, and
   * without it, the launch would be a wrong one.
   */
  @Tag("thorough")
  @Test
  void sumsAreRoundedFaceByFace() throws IOException {
    Module module = product(1, 496, 32, false);
    List<Tensor> inputs = EmittedKernelsTest.gaussians(new Random(1), module);
    double[] x = new double[496];
    Arrays.fill(x, 1.0 / 16);
    Arrays.fill(x, 0, 16, 16);
    double[] w = new double[496 * 32];
    Arrays.fill(w, 1);
    inputs =
        List.of(
            Tensor.ofDoubles(inputs.get(0).type(), x),
            Tensor.ofDoubles(inputs.get(1).type(), w),
            inputs.get(2));
    EmulatedProgram program = GridPrograms.build(emit(module), scratch);
    assertThat(program.run(inputs, LIMIT).getFirst().doubles()).containsOnly(256);
    EmittedKernelsTest.assertLaunchesAgree(program, inputs);
    Path reference = program.folder().resolve(ReferenceFiles.launches(0));
    String text = Files.readString(reference);
    Files.writeString(reference, text.replace("\"sumsInBf16\": true", "\"sumsInBf16\": false"));
    Finding finding =
        new KernelComparison(program, LIMIT, program.tolerance())
            .run(inputs)
            .finding()
            .orElseThrow();
    assertThat(finding.kind()).isEqualTo(Finding.Kind.DIVERGES);
    assertThat(finding.found()).startsWith("256");
  }

  /** One core, several with shared operands, and depths that are cut. */
  @Tag("thorough")
  @ParameterizedTest
  @CsvSource({
    "1, 1, 1024, 70, 100, 390, true",
    "2, 3, 1024, 280, 97, 520, false",
    "2, 2, 48, 230, 500, 390, true",
    "2, 2, 48, 230, 500, 390, false"
  })
  void productsAgreeWithTheReference(
      int columns, int rows, int kibibytes, int m, int k, int n, boolean isFused)
      throws IOException {
    Module module = product(m, k, n, isFused);
    EmittedMetalium emitted = GridPrograms.emit(module, target(columns, rows, kibibytes * 1024L));
    EmulatedProgram program = GridPrograms.build(emitted, scratch);
    EmittedKernelsTest.assertLaunchesAgree(
        program, EmittedKernelsTest.gaussians(new Random(7), module));
  }

  /** Norms, softmaxes, functions of elements and products, in one program. */
  @Tag("thorough")
  @ParameterizedTest
  @ValueSource(ints = {1, 40})
  void blocksAgreeWithTheReference(int tokens) {
    Module module = EmittedKernelsTest.feedForward(tokens, "bf16");
    EmulatedProgram program = GridPrograms.build(emit(module), scratch);
    EmittedKernelsTest.assertLaunchesAgree(
        program, EmittedKernelsTest.gaussians(new Random(7), module));
  }

  @Test
  void modelsOfF32AreRefused() {
    Module module = EmittedKernelsTest.feedForward(1, "f32");
    assertThatThrownBy(() -> emit(module))
        .hasMessageContaining("error P5209")
        .hasMessageContaining("elements of bf16, for sums of bf16")
        .hasMessageContaining("add the pass bf16");
  }

  @ParameterizedTest
  @ValueSource(strings = {"f16", "BF16", ""})
  void otherTypesAreRefused(String name) {
    assertThatThrownBy(() -> SumFormat.set(TargetLibrary.find("n150"), name))
        .hasMessageContaining("error P5209")
        .hasMessageContaining("--set sums=" + name)
        .hasMessageContaining("one of f32, bf16");
  }

  @Test
  void otherChipsHaveNoSuchRegisters() {
    assertThatThrownBy(() -> SumFormat.set(TargetLibrary.find("siracusa"), "bf16"))
        .hasMessageContaining("error P5209")
        .hasMessageContaining("target siracusa without it");
  }
}
