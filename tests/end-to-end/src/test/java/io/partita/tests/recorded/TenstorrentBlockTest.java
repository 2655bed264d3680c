package io.partita.tests.recorded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.partita.backend.metalium.KernelProgram;
import io.partita.backend.metalium.simulator.SimulatedProgram;
import io.partita.backend.metalium.simulator.TtnnInstallation;
import io.partita.driver.Compilation;
import io.partita.driver.JavaTarget;
import io.partita.driver.cases.MetaliumRunner;
import io.partita.driver.cases.ModuleRunner;
import io.partita.driver.chip.MetaliumTarget;
import io.partita.ir.graph.Module;
import io.partita.ir.graph.Value;
import io.partita.ir.tensor.Correlation;
import io.partita.ir.tensor.Tensor;
import io.partita.zoo.Mode;
import io.partita.zoo.Zoo;
import io.partita.zoo.ZooOptions;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.stream.DoubleStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * A block of the MCU paper's TinyLlama-42M, with seeded weights, decodes under {@code ttnn} on one
 * simulated Tenstorrent chip.
 */
@Tag("thorough")
@Timeout(7200)
class TenstorrentBlockTest {
  private static final int CAPACITY = 32;
  private static final int TOKENS = 4;

  /** What blocks are to reach. */
  private static final double CORRELATION = 0.999;

  @TempDir private Path folder;

  /** Each token sees the keys and values of those before it. */
  @Test
  void outputsAgreeWithJava() throws IOException {
    KernelProgram.Place place = simulator();
    Module block = block();
    double[] expected = outputs(JavaTarget.USUAL.runner(Optional.empty()), block);
    long start = System.nanoTime();
    double[] found =
        outputs(
            new MetaliumRunner(
                MetaliumTarget.of("n150"), Optional.empty(), place, Duration.ofHours(1)),
            block);
    double correlation = Correlation.of(expected, found);
    System.out.printf(
        "a block of TinyLlama-42M on ttsim: correlation %.7f, largest error %.2g of %.2g, %d tokens"
            + " in %.0f s%n",
        correlation,
        largest(expected, found),
        largest(expected, new double[expected.length]),
        TOKENS,
        (System.nanoTime() - start) / 1e9);
    assertThat(correlation).isGreaterThan(CORRELATION);
  }

  /** The simulator; skips the test with a message if it or ttnn is missing. */
  private KernelProgram.Place simulator() throws IOException {
    String python = System.getProperty("partita.python");
    String library = System.getProperty("partita.ttsim");
    if (python == null || library == null) {
      System.err.println(
          "NO TTNN OR TTSIM: a block of TinyLlama is NOT TESTED under Tenstorrent's runtime; name a"
              + " Python that has ttnn=="
              + TtnnInstallation.RELEASE
              + " and libttsim.so: -Dpartita.python=PROGRAM -Dpartita.ttsim=PATH");
    }
    assumeThat(python != null && library != null).as("ttnn and ttsim").isTrue();
    TtnnInstallation ttnn = TtnnInstallation.find(python).orElseThrow();
    return (program, whole) ->
        new SimulatedProgram(program, whole, ttnn, Path.of(library), folder.resolve("ttsim"));
  }

  private Module block() throws IOException {
    Path file = folder.resolve("model.onnx");
    ZooOptions options = ZooOptions.defaults().withMode(Mode.DECODE).withDynamic(true);
    Zoo.write("tinyllama-42m-block", options, file);
    return new Compilation(note -> {}, progress -> {})
        .prepare(new Compilation.Request(file, Map.of("past", (long) CAPACITY), Map.of(), null));
  }

  /** The outputs of all tokens, whose features are normally distributed. */
  private static double[] outputs(ModuleRunner runner, Module block) {
    List<String> states = block.states().stream().map(Module.State::input).toList();
    List<Value> inputs =
        block.graph().inputs().stream().filter(input -> !states.contains(input.name())).toList();
    Random random = new Random(1);
    DoubleStream.Builder all = DoubleStream.builder();
    try (ModuleRunner.Prepared program = runner.prepare(block)) {
      for (int token = 0; token < TOKENS; token++) {
        int position = token;
        List<Tensor> given =
            inputs.stream()
                .map(
                    input ->
                        input.name().equals("position")
                            ? Tensor.filled(input.type(), position)
                            : gaussian(random, input))
                .toList();
        Arrays.stream(program.run(given).getFirst().doubles()).forEach(all);
      }
    }
    return all.build().toArray();
  }

  private static Tensor gaussian(Random random, Value input) {
    return Tensor.ofDoubles(
        input.type(),
        DoubleStream.generate(random::nextGaussian)
            .limit(input.type().shape().elements())
            .toArray());
  }

  private static double largest(double[] expected, double[] found) {
    double largest = 0;
    for (int i = 0; i < expected.length; i++) {
      largest = Math.max(largest, Math.abs(expected[i] - found[i]));
    }
    return largest;
  }
}
