package io.partita.backend.metalium;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.partita.ir.eval.Evaluator;
import io.partita.ir.file.OutputFolder;
import io.partita.ir.graph.Module;
import io.partita.ir.tensor.Correlation;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.text.PirParser;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Patches of images, whose transposition has six dimensions, and activations by a sigmoid. */
class PatchesAndActivationsTest {
  private static final Duration LIMIT = Duration.ofMinutes(2);

  @TempDir Path scratch;

  private static Module module(String text) {
    return PirParser.parse("pir 1\nmodule {\n" + text + "}\n");
  }

  @Tag("thorough")
  @Test
  void patchesAreMovedAndActivated() {
    Module module =
        module(
            """
              graph @patches(%image: f32[2,3,6,10]) -> ("patches": f32[2,6,30], "tanh": f32[2,6,30], "quick": f32[2,6,30]) {
                %0 = reshape(%image) {to = [2, 3, 2, 3, 3, 10]} : f32[2,3,2,3,3,10] "parts"
            """
                    .replace("[2,3,6,10]", "[2,3,6,30]")
                    .replace("f32[2,6,30]", "f32[2,6,90]")
                + """
                %1 = transpose(%0) {permutation = [0, 2, 4, 1, 3, 5]} : f32[2,2,3,3,3,10] "moved"
                %2 = reshape(%1) {to = [2, 6, 90]} : f32[2,6,90] "patches"
                %3 = gelu_tanh(%2) : f32[2,6,90] "tanh"
                %4 = quick_gelu(%2) : f32[2,6,90] "quick"
                return %2, %3, %4
              }
            """);
    EmittedMetalium emitted = EmittedKernelsTest.emit(module);
    Path folder = scratch.resolve("program");
    OutputFolder.write(emitted.files(), folder, path -> false);
    EmulatedProgram program = EmulatedProgram.build(folder, emitted.description().whole());
    List<Tensor> inputs = EmittedKernelsTest.gaussians(new Random(4), module);
    List<Tensor> expected = Evaluator.run(module.graph(), inputs);
    List<Tensor> found = program.run(inputs, LIMIT);
    assertThat(found.getFirst().doubles()).isEqualTo(expected.getFirst().doubles());
    for (int output = 1; output < expected.size(); output++) {
      assertThat(Correlation.of(expected.get(output).doubles(), found.get(output).doubles()))
          .isGreaterThan(0.999999);
    }
    EmittedKernelsTest.assertLaunchesAgree(program, inputs);
  }

  /**
   * What isn't 0 at 0 must become 0 again before it is stored, where a row isn't of whole tiles.
   */
  @Test
  void paddingThatRemainsIsReported() {
    String text =
        """
          graph @padded(%x: f32[2,40]) -> ("y": f32[2,40]) {
            %0 = sigmoid(%x) : f32[2,40] "sigmoid"
            %1 = LAST : f32[2,40] "last"
            return %1
          }
        """;
    assertThat(EmittedKernelsTest.emit(module(text.replace("LAST", "mul(%0, %x)"))).files())
        .isNotEmpty();
    Module added = module(text.replace("LAST", "add(%0, %x)"));
    assertThatThrownBy(() -> EmittedKernelsTest.emit(added))
        .hasMessageContaining("error P5202")
        .hasMessageContaining("f32[2,40]");
  }

  /** Such as caches of no tokens. */
  @Test
  void whatHasNoElementsTakesNoStep() throws IOException {
    Module module =
        module(
            """
              graph @none(%past: f32[0,32], %x: f32[4,32]) -> ("y": f32[4,32], "none": f32[0,32]) {
                %0 = concat(%past, %x) {axis = 0} : f32[4,32] "all"
                %1 = relu(%0) : f32[4,32] "relu"
                %2 = slice(%1) {starts = [4, 0], sizes = [0, 32], steps = [1, 1]} : f32[0,32] "none"
                return %1, %2
              }
            """);
    assertThat(GridPrograms.host(EmittedKernelsTest.emit(module)))
        .contains("model.read(t_x);", "model.write(t_relu);")
        .doesNotContain("t_past", "t_none");
  }
}
