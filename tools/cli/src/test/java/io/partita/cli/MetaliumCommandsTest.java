package io.partita.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.partita.driver.npz.Npz;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.Shape;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests compilation to TT-Metalium kernels, and their run on the emulated chip. */
@Order(Integer.MAX_VALUE)
class MetaliumCommandsTest {
  private static final int ROWS = 3;
  private static final int SIZE = 64;

  @TempDir Path scratch;

  /** What several tests compare with or begin with: texts of programs in Java. */
  @TempDir static Path shared;

  private static final Map<List<String>, String> JAVA_TEXTS = new HashMap<>();

  /** Compiles a layer with a bias and a residual for a target. */
  private Path compiled(String target) throws IOException {
    Path module = scratch.resolve("layer.pir");
    String weight =
        IntStream.range(0, SIZE * SIZE)
            .mapToObj(i -> Double.toString((i * 37 % 101 - 50) / 400.0))
            .collect(Collectors.joining(", "));
    String bias =
        IntStream.range(0, SIZE)
            .mapToObj(i -> Double.toString(i % 5 / 4.0))
            .collect(Collectors.joining(", "));
    Files.writeString(
        module,
        """
        pir 1
        module {
          graph @layer(%%x: f32[3,64]) -> ("y": f32[3,64]) {
            %%w = constant [%s] : f32[64,64]
            %%b = constant [%s] : f32[64]
            %%h = linear(%%x, %%w, %%b) {bias} : f32[3,64] "/up"
            %%s = silu(%%h) : f32[3,64] "/silu"
            %%r = add(%%s, %%x) : f32[3,64] "/residual"
            return %%r
          }
        }
        """
            .formatted(weight, bias));
    Path folder = scratch.resolve(target);
    Invocation compile = Invocation.of("compile", module, "--target", target, "-o", folder);
    assertThat(compile.exitCode()).as(compile.err()).isEqualTo(ExitCode.DONE);
    return folder;
  }

  private Tensor run(Path folder) throws IOException {
    float[] x = new float[ROWS * SIZE];
    for (int i = 0; i < x.length; i++) {
      x[i] = i % 17 / 8f - 1;
    }
    Path inputs = scratch.resolve("in.npz");
    try (OutputStream out = Files.newOutputStream(inputs)) {
      Npz.write(Map.of("x", Tensor.floats(Shape.of(ROWS, SIZE), x)), out);
    }
    Path outputs = scratch.resolve("out.npz");
    Invocation run = Invocation.of("run", folder, "--inputs", inputs, "--outputs", outputs);
    assertThat(run.exitCode()).as(run.err()).isEqualTo(ExitCode.DONE);
    assertThat(run.out()).contains("y: f32[3,64]");
    return Npz.read(outputs).get("y");
  }

  /**
   * Each factor of a product is cut to 10 bits of mantissa, which changes it by less than 2^-10. So
   * a sum of 64 products of factors below 1 and 1/8 changes by less than 2^-10 * 2 * 64 / 8, silu
   * by 1.1 times as much, and the residual by 2^-10.
   */
  @Tag("thorough")
  @ParameterizedTest
  @ValueSource(strings = "n300")
  void layersAgreeWithJava(String target) throws IOException {
    float[] expected = run(compiled("java")).floats();
    float[] found = run(compiled(target)).floats();
    for (int i = 0; i < expected.length; i++) {
      assertThat((double) found[i])
          .isCloseTo(expected[i], org.assertj.core.data.Offset.offset(18.6 / 1024));
    }
  }

  @Tag("exhaustive")
  @ParameterizedTest
  @ValueSource(strings = "n150")
  void layersOnOneChipAgreeWithJava(String target) throws IOException {
    layersAgreeWithJava(target);
  }

  @Tag("thorough")
  @Test
  void launchesAreComparedWithTheReference() throws IOException {
    Path folder = compiled("n150");
    run(folder);
    Path inputs = scratch.resolve("in.npz");
    Invocation same = Invocation.of("diff", folder, "--inputs", inputs, "--on", "emulation");
    assertThat(same.exitCode()).as(same.err()).isEqualTo(ExitCode.DONE);
    assertThat(same.out()).startsWith("PASS 1 steps on 1 chip");

    Path kernel = folder.resolve("kernels/linear_add_row_silu_add_compute.cpp");
    String text = Files.readString(kernel);
    assertThat(text).contains("silu_tile(i);");
    Files.writeString(kernel, text.replace("silu_tile(i);", ""));
    Invocation other = Invocation.of("diff", folder, "--inputs", inputs);
    assertThat(other.exitCode()).isEqualTo(ExitCode.CHECK_FAILED);
    assertThat(other.out()).startsWith("DIVERGES chip 0, step 0 of 1, node /residual");
  }

  @Tag("thorough")
  @Test
  void launchesOfSpeculatingChipsAreComparedWithTheReference() throws IOException {
    Path folder = speculating();
    Invocation diff = Invocation.of("diff", folder, "--inputs", token(scratch));
    assertThat(diff.exitCode()).as(diff.out() + diff.err()).isEqualTo(ExitCode.DONE);
    assertThat(diff.out()).contains("steps on 4 chips");
  }

  /** Writes a file of the first token. */
  static Path token(Path folder) throws IOException {
    Path inputs = folder.resolve("token.npz");
    try (OutputStream out = Files.newOutputStream(inputs)) {
      Npz.write(
          Map.of(
              "input_ids",
              Tensor.longs(Shape.of(1, 1), 30),
              "position",
              Tensor.longs(Shape.of(1), 0)),
          out);
    }
    return inputs;
  }

  /** Kernels run on the emulation and on ttsim only, and nothing else does. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "run      | n150 | host      | expected:  emulation or ttsim",
        "generate | n150 | gvsoc     | expected:  emulation or ttsim",
        "diff     | n150 | qemu      | expected:  emulation or ttsim",
        "run      | java | emulation | found:     a program in Java",
      })
  void programsDontRunElsewhere(String command, String target, String place, String message)
      throws IOException {
    List<Object> arguments = new ArrayList<>(List.of(command, compiled(target), "--on", place));
    if (command.equals("generate")) {
      arguments.addAll(List.of("--prompt", "a", "--vocab", vocabulary()));
    } else {
      arguments.addAll(List.of("--inputs", scratch.resolve("in.npz")));
    }
    if (command.equals("run")) {
      arguments.addAll(List.of("-o", scratch.resolve("out.npz")));
    }
    Invocation run = Invocation.of(arguments.toArray());
    assertThat(run.exitCode()).isEqualTo(ExitCode.USER_ERROR);
    assertThat(run.err()).contains("error P6033", "--on " + place, message);
  }

  @ParameterizedTest
  @CsvSource({"n150, host", "n300, qemu", "java, emulation", "siracusa, emulation"})
  void checksDontRunElsewhere(String target, String place) {
    Path tests = Invocation.DECODER.getParent();
    Invocation check = Invocation.of("check", tests, "--target", target, "--on", place);
    assertThat(check.exitCode()).isEqualTo(ExitCode.USER_ERROR);
    assertThat(check.err()).contains("error P6033", "--on " + place);
  }

  static String vocabulary() {
    return Invocation.DECODER.getParent().resolveSibling("vocab.json").toString();
  }

  @Test
  void foldersHoldKernelsAndHostPrograms() throws IOException {
    Path folder = compiled("n150");
    assertThat(folder.resolve("kernels/linear_mcast_x_add_row_silu_add_reader.cpp")).exists();
    assertThat(folder.resolve("model.py")).content().contains("ttnn.generic_op(");
    assertThat(folder.resolve("metalium-host/api/compute/matmul.h")).exists();
    assertThat(folder.resolve("model.json")).content().contains("partita-metalium-1");
  }

  @ParameterizedTest
  @CsvSource({
    "n300, 3, at most 2 devices",
    "n150, 9, at most 8 devices",
    "n150:chips=4, 5, at most 4 devices"
  })
  void moreDevicesThanTheTargetHasAreRefused(String target, int devices, String message) {
    assertThat(refused(target, "--devices=" + devices)).contains("error P6017", message);
  }

  /** A card with two chips is used whole; of others, as many chips as the target says. */
  @ParameterizedTest
  @CsvSource({"n300, 2", "n150:chips=2, 2", "n150, 1"})
  void targetsSayHowManyChipsAreUsed(String target, int chips) throws IOException {
    Path folder = scratch.resolve("folder");
    Invocation compile =
        Invocation.of(
            "compile", Invocation.DECODER, "--target", target, "--kv-capacity=32", "-o", folder);
    assertThat(compile.exitCode()).as(compile.err()).isEqualTo(ExitCode.DONE);
    assertThat(compile.out()).contains(chips == 1 ? "for one chip" : "for " + chips + " chips");
    if (chips > 1) {
      assertThat(folder.resolve("model.py")).content().contains("ttnn.MeshProgramDescriptor()");
      assertThat(folder.resolve("model.json")).content().contains("\"head\": 2");
    }
  }

  /** The decoder's own README records the text that its logits choose. */
  @Tag("thorough")
  @ParameterizedTest
  @ValueSource(strings = "n150:chips=4")
  void decodersWriteTheSameTextAsJava(String target) {
    assertThat(generated(target)).isEqualTo(textOfJava()).startsWith("ROMEO:");
  }

  @Tag("exhaustive")
  @ParameterizedTest
  @ValueSource(strings = {"n150", "n300"})
  void decodersOnOneCardWriteTheSameTextAsJava(String target) {
    decodersWriteTheSameTextAsJava(target);
  }

  /**
   * Two groups of chips write what two groups of Java threads write: if no approximation is
   * accepted, the text of the model; if all are, another text.
   */
  @Tag("thorough")
  @ParameterizedTest
  @CsvSource("2, 0.2")
  void speculatingDecodersWriteTheSameTextAsJava(int chips, String lambda) {
    String exact = textOfJava();
    String[] options = {"--devices=" + chips, "--speculate", "lambda=" + lambda + ",chunk=16"};
    String found = generated("n150:chips=" + chips, options);
    assertThat(found).isEqualTo(textOfJava(options)).startsWith("ROMEO:");
    if (lambda.equals("0")) {
      assertThat(found).isEqualTo(exact);
    }
    if (lambda.equals("1000")) {
      assertThat(found).isNotEqualTo(exact);
    }
  }

  @Tag("exhaustive")
  @ParameterizedTest
  @CsvSource({"4, 0", "4, 1000"})
  void otherSpeculatingDecodersWriteTheSameTextAsJava(int chips, String lambda) {
    speculatingDecodersWriteTheSameTextAsJava(chips, lambda);
  }

  @Tag("thorough")
  @Test
  void speculatingProgramsHoldGatedKernels() throws IOException {
    Path folder = speculating();
    assertThat(folder.resolve("kernels/speculated_attention_compute.cpp")).exists();
    assertThat(folder.resolve("kernels/gated_exchange_writer.cpp")).exists();
    assertThat(folder.resolve("model.py")).content().contains("decides=True", "words=[");
  }

  /** Returns the folder of a decoder for two groups of two chips. */
  private Path speculating() {
    Path folder = scratch.resolve("groups");
    Invocation compile =
        Invocation.of(
            "compile",
            Invocation.DECODER,
            "--target=n150:chips=4",
            "--speculate=lambda=0.2,chunk=16",
            "--kv-capacity=64",
            "-o",
            folder);
    assertThat(compile.exitCode()).as(compile.err()).isEqualTo(ExitCode.DONE);
    return folder;
  }

  private String textOfJava(String... options) {
    return JAVA_TEXTS.computeIfAbsent(List.of(options), any -> generated("java", options));
  }

  private String generated(String target, String... options) {
    Path folder = scratch.resolve(target.replace(':', '-') + options.length);
    List<Object> arguments = new ArrayList<>();
    Collections.addAll(arguments, "compile", Invocation.DECODER, "--target", target);
    Collections.addAll(arguments, (Object[]) options);
    Collections.addAll(arguments, "--kv-capacity=64", "-o", folder);
    Invocation compile = Invocation.of(arguments.toArray());
    assertThat(compile.exitCode()).as(compile.err()).isEqualTo(ExitCode.DONE);
    return written(folder);
  }

  /** The text that a compiled decoder writes. */
  static String written(Path folder, String... options) {
    List<String> all = new ArrayList<>(List.of("--prompt=ROMEO:", "--tokens=40"));
    Collections.addAll(all, options);
    return text(folder, all.toArray(String[]::new));
  }

  /** The text that a program generates with these options. */
  static String text(Path folder, String... options) {
    List<Object> arguments = new ArrayList<>(List.of("generate", folder, "--vocab", vocabulary()));
    Collections.addAll(arguments, (Object[]) options);
    Invocation generate = Invocation.of(arguments.toArray());
    assertThat(generate.exitCode()).as(generate.err()).isEqualTo(ExitCode.DONE);
    return generate.out();
  }

  @Test
  void releasesWithoutNamesAreRefused() {
    assertThat(refused("n150", "--set=release=0.62.2"))
        .contains("error P5205", "one of 0.81.1, 0.77.0", "0.62.2", "leave it out");
  }

  /** The name of one function differs, and the emulation has both. */
  @Tag("thorough")
  @Test
  void releasesHaveNamesOfTheirOwn() throws IOException {
    Path folder = scratch.resolve("older");
    Invocation compile =
        Invocation.of(
            "compile",
            Invocation.DECODER,
            "--target=n150",
            "--kv-capacity=32",
            "--set=release=0.77.0",
            "-o",
            folder);
    assertThat(compile.exitCode()).as(compile.err()).isEqualTo(ExitCode.DONE);
    assertThat(folder.resolve("kernels/attention_compute.cpp"))
        .content()
        .contains("// TT-Metalium 0.77.0.", "copy_tile_init(")
        .doesNotContain("copy_init(");
  }

  @Test
  void weightsInOtherFormatsAreRefused() {
    assertThat(refused("n150", "--set=weights=bf8"))
        .contains("error P5206", "--set weights=bf8", "one of model, bf8_b", "correct the name");
  }

  @Test
  void sumsOfOtherTypesAreRefused() {
    assertThat(refused("n150", "--set=sums=f16"))
        .contains("error P5209", "--set sums=f16", "one of f32, bf16", "correct the name");
    assertThat(refused("n150", "--kv-capacity=32", "--set=sums=bf16"))
        .contains("error P5209", "elements of bf16, for sums of bf16", "add the pass bf16");
  }

  /**
   * A decoder in bf16 whose products are summed in 16 bits: each launch is within its tolerance.
   */
  @Tag("thorough")
  @Test
  void productsMayBeSummedIn16Bits() throws IOException {
    Path folder = scratch.resolve("sums");
    Invocation compile =
        Invocation.of(
            "compile",
            Invocation.DECODER,
            "--target=n150",
            "--dim=past=32",
            "--passes=simplify,raise,simplify,kv-state(capacity=32),simplify,bf16",
            "--set=sums=bf16",
            "-o",
            folder);
    assertThat(compile.exitCode()).as(compile.err()).isEqualTo(ExitCode.DONE);
    assertThat(folder.resolve("model.py")).content().contains("fp32_dest_acc_en=False");
    Path inputs = token(scratch);
    Invocation diff = Invocation.of("diff", folder, "--inputs", inputs);
    assertThat(diff.exitCode()).as(diff.out() + diff.err()).isEqualTo(ExitCode.DONE);
    Path outputs = scratch.resolve("out.npz");
    Invocation run = Invocation.of("run", folder, "--inputs", inputs, "--outputs", outputs);
    assertThat(run.exitCode()).as(run.err()).isEqualTo(ExitCode.DONE);
  }

  @ParameterizedTest
  @CsvSource({"n150, 9x9, 72, 8x9", "n300, 9x8, 64, 8x8", "n150, 0x8, 72, 8x9", "n150, 8, 72, 8x9"})
  void gridsThatChipsDontHaveAreRefused(String target, String grid, int most, String whole) {
    assertThat(refused(target, "--set=grid=" + grid))
        .contains(
            "error P5207",
            "--set grid=" + grid,
            "at most " + most + " cores",
            "write --set grid=" + whole);
  }

  /** Attention is dealt to as many cores as there are, down to one. */
  @Tag("thorough")
  @ParameterizedTest
  @ValueSource(strings = "1x1")
  void decodersOnSmallerGridsWriteTheSameText(String grid) throws IOException {
    assertThat(generated("n150", "--set=grid=" + grid)).isEqualTo(textOfJava());
    Path emulation = scratch.resolve("n1501/emulation.cpp");
    assertThat(emulation).content().contains(", " + grid.replace("x", ", ") + ", DataFormat::");
  }

  @Tag("exhaustive")
  @ParameterizedTest
  @ValueSource(strings = "8x8")
  void decodersOnLargerGridsWriteTheSameText(String grid) throws IOException {
    decodersOnSmallerGridsWriteTheSameText(grid);
  }

  /** Each core has its own L1, so a grid of fewer cores needs no more of it. */
  @Test
  void coresOfSmallerGridsHaveTheSameL1() {
    String refused = refused("n150", "--kv-capacity=64", "--set=grid=1x1", "--set=l1=1KiB");
    assertThat(refused).contains("error P4402", "at most 1024 bytes of l1 on n150");
  }

  /** L1 is that of all 72 cores, each of which needs room for its own tiles. */
  @Test
  void tilesThatDontFitL1AreRefused() {
    assertThat(refused("n150", "--kv-capacity=64", "--set=l1=64KiB"))
        .contains(
            "error P4402",
            "expected:  at most 910 bytes of l1 on n150",
            "fix:       --set l1=16MiB (tried, it then fits)");
  }

  /** A card's memories are those that it has, and no remedy names more. */
  @Test
  void memoriesThatCardsDontHaveAreNeitherTakenNorSuggested() throws IOException {
    assertThat(refused("n150", "--set=l1=95MiB"))
        .contains("error P5208", "at most 99090432 bytes", "leave --set l1 out");
    assertThat(refused("n150", "--set=dram=13GiB")).contains("error P5208", "--set dram");
    assertThat(refused("n150", "--set=grid=1x1", "--set=l1=2MiB"))
        .contains("error P5208", "at most 1376256 bytes");
    Path module = scratch.resolve("row.pir");
    Files.writeString(
        module,
        """
        pir 1
        module {
          graph @m(%x: f32[1,65536]) -> ("y": f32[1,65536]) {
            %y = softmax(%x) {axis = 1} : f32[1,65536] "y"
            return %y
          }
        }
        """);
    Invocation compile =
        Invocation.of("compile", module, "--target=n150", "-o", scratch.resolve("none"));
    assertThat(compile.exitCode()).isEqualTo(ExitCode.USER_ERROR);
    assertThat(compile.err())
        .contains("error P4402", "softmax", "smaller dimensions, or narrower elements\n")
        .doesNotContain("--set l1");
  }

  /** The remedy that the message names is right: with twice the L1, the program compiles. */
  @Tag("thorough")
  @Test
  void speculationThatDoesntFitL1IsRefused() {
    String[] options = {"--speculate=lambda=0.2,chunk=16", "--kv-capacity=64", "--set=l1=9MiB"};
    assertThat(refused("n150:chips=2", options))
        .contains(
            "error P5204", "circular buffers", "fix:       --set l1=18MiB (tried, it then fits)");
    options[2] = "--set=l1=18MiB";
    List<Object> arguments = new ArrayList<>();
    Collections.addAll(arguments, "compile", Invocation.DECODER, "--target=n150:chips=2");
    Collections.addAll(arguments, (Object[]) options);
    Collections.addAll(arguments, "-o", scratch.resolve("larger"));
    Invocation compile = Invocation.of(arguments.toArray());
    assertThat(compile.exitCode()).as(compile.err()).isEqualTo(ExitCode.DONE);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "lambda=0.1,chunk=16 | --devices=3 | P4244 | write --devices 2 or --devices 4",
        "lambda=0.1,chunk=33 | --devices=2 | P4242 | choose chunk=32 or less",
        "lambda=-1,chunk=16  | --devices=2 | P4241 | a number of 0 or more",
      })
  void impossibleSpeculationIsRefused(String options, String devices, String code, String remedy) {
    assertThat(refused("n150:chips=4", "--speculate=" + options, devices, "--kv-capacity=64"))
        .contains("error " + code, remedy);
  }

  private String refused(String target, String... options) {
    List<Object> arguments = new ArrayList<>();
    Collections.addAll(arguments, "compile", Invocation.DECODER, "--target=" + target);
    Collections.addAll(arguments, (Object[]) options);
    Collections.addAll(arguments, "-o", scratch.resolve("none"));
    Invocation compile = Invocation.of(arguments.toArray());
    assertThat(compile.exitCode()).isEqualTo(ExitCode.USER_ERROR);
    return compile.err();
  }
}
