package io.partita.backend.metalium;

import static org.assertj.core.api.Assertions.assertThat;

import io.partita.backend.emitted.probe.Finding;
import io.partita.backend.emitted.probe.ProbeComparison;
import io.partita.ir.file.OutputFolder;
import io.partita.ir.graph.Module;
import io.partita.ir.graph.Value;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Derived tolerances refuse kernels that are slightly wrong. */
class BrokenKernelsTest {
  private static final Duration LIMIT = Duration.ofMinutes(2);
  private static final int TOKENS = 3;
  private static final int POSITION = 90;

  @TempDir Path scratch;

  private static Module module(String name, String element) {
    return switch (name) {
      case "feed-forward" -> EmittedKernelsTest.feedForward(40, element);
      case "token" -> EmittedKernelsTest.feedForward(1, element);
      case "centroids" -> CentroidsTest.centroids();
      case "layer-norm" -> EmittedKernelsTest.layerNorm(40, 72, true, element);
      default -> EmittedKernelsTest.attention(TOKENS, 4, 2, 32, 96, element);
    };
  }

  /** Three tokens at position 90, of a cache that is empty before. */
  private static List<Tensor> inputs(Module module) {
    Random random = new Random(11);
    List<Tensor> inputs = new ArrayList<>();
    for (Value input : module.graph().inputs()) {
      if (input.type().element() == ElementType.I64) {
        inputs.add(
            input.name().equals("position")
                ? Tensor.longs(Shape.of(1), POSITION)
                : Tensor.longs(
                    Shape.of(TOKENS), LongStream.range(POSITION, POSITION + TOKENS).toArray()));
      } else if (module.states().stream().noneMatch(state -> state.input().equals(input.name()))) {
        inputs.add(EmittedKernelsTest.gaussian(random, input));
      }
    }
    return inputs;
  }

  private ProbeComparison.Result compare(Module module) {
    Path folder = scratch.resolve("program");
    EmulatedProgram program =
        EmulatedProgram.build(folder, MetaliumDescription.read(folder).whole());
    return new KernelComparison(program, LIMIT, program.tolerance()).run(inputs(module));
  }

  private void emit(Module module) {
    OutputFolder.write(
        EmittedKernelsTest.emit(module).files(), scratch.resolve("program"), path -> false);
  }

  /** Replaces a text in all files whose path begins with another one. */
  private void replace(String files, String before, String after) throws IOException {
    Path folder = scratch.resolve("program");
    int changed = 0;
    try (Stream<Path> all = Files.walk(folder)) {
      for (Path file : all.filter(Files::isRegularFile).toList()) {
        if (folder.relativize(file).toString().startsWith(files)) {
          String text = Files.readString(file);
          if (text.contains(before)) {
            Files.writeString(file, text.replace(before, after));
            changed++;
          }
        }
      }
    }
    assertThat(changed).as(before).isPositive();
  }

  /**
   * Skipped tiles, tiles that aren't sent to all cores, a larger epsilon, a factor of 1 + 2^-21,
   * padding that counts, operands that lose bits which they should keep, and a scale that is off by
   * 2^-8.
   */
  @Tag("thorough")
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "feed-forward | kernels/linear | k < block_k; | k < block_k - 1; | silu",
        "layer-norm | kernels/layer_norm | wt == Wt - 1 | 0 | norm",
        "centroids | kernels/nearest_centroid_writer | k < size; | true; | nearest",
        "attention | kernels/attention | (0, scale) | (0, scale + 0x8000) | attention",
        "attention | kernels/cache_update | row % tokens; | row % tokens - 1; | keys"
      })
  void slightlyWrongKernelsAreFound(
      String name, String files, String before, String after, String node) throws IOException {
    Module module = module(name, "f32");
    emit(module);
    replace(files, before, after);
    Finding finding = compare(module).finding().orElseThrow();
    assertThat(finding.kind()).isEqualTo(Finding.Kind.DIVERGES);
    assertThat(finding.origin().text()).contains(node);
  }

  @Tag("exhaustive")
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "token | kernels/linear_mcast | block_h * in0_block_w * x_tile_size | block_h * x_tile_size | silu",
        "feed-forward | kernels/rms_norm | add_unary_tile(0, epsilon) | add_unary_tile(0, epsilon + 0x2000000) | norm",
        "feed-forward | kernels/rms_norm | (cb_norm, cb_scale, 0, wt, 0); | (cb_norm, cb_scale, 0, wt, 0); binop_with_scalar_tile_init(); mul_unary_tile(0, 0x3f800004); | norm",
        "feed-forward | kernels/softmax | cb_exp, cb_ones, wt, 0, 0 | cb_exp, cb_ones, 0, 0, 0 | softmax",
        "feed-forward | emulation.cpp | .direct = {2} | .direct = {} | gated",
        "layer-norm | kernels/layer_norm | cb_factor, wt, wt | cb_factor, 0, wt | norm",
        "centroids | kernels/lookup_reader | row % columns % 32)] | 0)] | found",
        "attention | emulation.cpp | .direct = {0} | .direct = {} | rotated",
        "attention | kernels/rotary | add_binary_tile | sub_binary_tile | rotated",
        "attention | kernels/attention | key_tile * 32, key_rows, vt | key_tile / 2 * 32, key_rows, vt | attention",
        "attention | kernels/gather_rows | 7 + row) | 7 + row / 2) | cos"
      })
  void otherWrongKernelsAreFound(
      String name, String files, String before, String after, String node) throws IOException {
    slightlyWrongKernelsAreFound(name, files, before, after, node);
  }

  /** Source registers with one bit less. */
  @Tag("thorough")
  @Test
  void narrowSourceRegistersAreFound() throws IOException {
    Module module = module("feed-forward", "f32");
    emit(module);
    replace("metalium-host/emulation/compute.cpp", "SOURCE_BITS = 10", "SOURCE_BITS = 9");
    Finding finding = compare(module).finding().orElseThrow();
    assertThat(finding.kind()).isEqualTo(Finding.Kind.DIVERGES);
    assertThat(finding.step()).isZero();
  }
}
