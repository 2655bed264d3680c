package io.partita.backend.metalium;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.partita.ir.eval.Evaluator;
import io.partita.ir.file.EmittedFile;
import io.partita.ir.file.OutputFolder;
import io.partita.ir.golden.GoldenFile;
import io.partita.ir.graph.Module;
import io.partita.ir.graph.Value;
import io.partita.ir.target.TargetLibrary;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.text.PirParser;
import io.partita.passes.program.localize.Localization;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests emitted kernels on the emulated chip against the reference evaluator. */
class EmittedKernelsTest {
  @TempDir Path scratch;

  private static Module feedForward(int tokens, String element) {
    return PirParser.parse(
        """
        module {
          graph @feed_forward(%x: f32[T,96], %gate: f32[96,160], %up: f32[96,160], %down: f32[160,96], %scale: f32[96]) -> ("y": f32[T,96]) {
            %8 = rms_norm(%x, %scale) {axis = 1, epsilon = 1.0E-5, scale} : f32[T,96] "norm"
            %0 = linear(%8, %gate) : f32[T,160] "gate"
            %1 = silu(%0) : f32[T,160] "silu"
            %2 = linear(%8, %up) : f32[T,160] "up"
            %3 = mul(%1, %2) : f32[T,160] "gated"
            %4 = linear(%3, %down) : f32[T,96] "down"
            %5 = add(%x, %4) : f32[T,96] "residual"
            %6 = softmax(%5) {axis = 1} : f32[T,96] "softmax"
            %7 = sub(%6, %5) : f32[T,96] "difference"
            return %7
          }
        }
        """
            .replaceAll("\\bT\\b", "" + tokens)
            .replace("f32", element));
  }

  private static EmittedMetalium emit(Module module) {
    return new MetaliumBackend(TargetLibrary.find("n150"))
        .emit(Localization.of(module, 1), Optional.empty());
  }

  @Test
  void kernelsOfABlockAreReadable() throws IOException {
    StringBuilder text = new StringBuilder();
    for (EmittedFile file : emit(feedForward(64, "f32")).files()) {
      if (file.path().startsWith("kernels/") || file.path().equals("emulation.cpp")) {
        text.append("// ").append(file.path()).append('\n').append(file.text()).append('\n');
      }
    }
    GoldenFile.of("feed-forward.golden").assertMatches("n150", text.toString());
  }

  /** Source registers hold 11 bits of a significand, and bf16 has 8. */
  @Tag("thorough")
  @ParameterizedTest
  @CsvSource({"64, f32, 0.99999", "1, f32, 0.99999", "40, bf16, 0.999"})
  void blocksAgreeWithTheReference(int tokens, String element, double correlation) {
    Module module = feedForward(tokens, element);
    Path folder = scratch.resolve("program");
    EmittedMetalium emitted = emit(module);
    OutputFolder.write(emitted.files(), folder, path -> false);
    List<Tensor> inputs = new ArrayList<>();
    Random random = new Random(7);
    for (Value input : module.graph().inputs()) {
      double[] values = new double[Math.toIntExact(input.type().shape().elements())];
      for (int i = 0; i < values.length; i++) {
        values[i] = random.nextGaussian() / 4;
      }
      inputs.add(Tensor.ofDoubles(input.type(), values));
    }
    double[] expected = Evaluator.run(module.graph(), inputs).getFirst().doubles();
    double[] found =
        EmulatedProgram.build(folder, emitted.description().whole())
            .run(inputs)
            .getFirst()
            .doubles();
    assertThat(correlation(expected, found)).isGreaterThan(correlation);
  }

  private static double correlation(double[] one, double[] other) {
    double meanOne = Arrays.stream(one).average().orElseThrow();
    double meanOther = Arrays.stream(other).average().orElseThrow();
    double product = 0;
    double squareOne = 0;
    double squareOther = 0;
    for (int i = 0; i < one.length; i++) {
      product += (one[i] - meanOne) * (other[i] - meanOther);
      squareOne += Math.pow(one[i] - meanOne, 2);
      squareOther += Math.pow(other[i] - meanOther, 2);
    }
    return product / Math.sqrt(squareOne * squareOther);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "f32[4,32] | %0 = sin(%x) | P5201 | sin of f32[4,32]",
        "f32[4,32] | %0 = softmax(%x) {axis = 0} | P5201 | softmax of f32[4,32]",
        "f32[4,33] | %0 = exp(%x) | P5202 | f32[4,33]",
        "f32[4,4096] | %0 = softmax(%x) {axis = 1} | P5204 | 1593344 bytes"
      })
  void whatHasNoKernelIsReported(String type, String node, String code, String found) {
    String text =
        """
        module {
          graph @m(%x: TYPE) -> ("y": TYPE) {
            NODE : TYPE "node"
            return %0
          }
        }
        """;
    Module module = PirParser.parse(text.replace("NODE", node).replace("TYPE", type));
    assertThatThrownBy(() -> emit(module))
        .hasMessageContaining("error " + code)
        .hasMessageContaining(found);
  }
}
