package io.partita.tests.recorded;

import static org.assertj.core.api.Assertions.assertThat;

import io.partita.driver.Compilation;
import io.partita.driver.Distribution;
import io.partita.driver.cases.ModuleRunner;
import io.partita.ir.graph.Graph;
import io.partita.ir.graph.Module;
import io.partita.ir.graph.Value;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.Shape;
import io.partita.tests.matrix.ReassociationBound;
import io.partita.zoo.Mode;
import io.partita.zoo.Zoo;
import io.partita.zoo.ZooOptions;
import java.io.IOException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * The MCU paper's TinyLlama-42M, with seeded weights, decodes on eight simulated Siracusa chips:
 * its logits equal those of Java within the error of reordered sums, and so does its choice.
 */
@Timeout(7200)
class SimulatedTinyLlamaTest {
  private static final int CAPACITY = 128;

  /** The position of the first decoded token: attention sees the earlier positions as zeros. */
  private static final int POSITION = 100;

  @TempDir private Path folder;

  @BeforeAll
  static void requireGvsoc() {
    EmittedC.requireGvsoc();
  }

  /** The second token sees the cache entries of the first one. */
  @Test
  void blockDecodesTwoTokens() throws IOException {
    decodes(ZooOptions.defaults().withLayers(1), 2);
  }

  @Test
  void allBlocksDecodeAToken() throws IOException {
    decodes(ZooOptions.defaults(), 1);
  }

  private void decodes(ZooOptions options, int count) throws IOException {
    Module module = decoder(options);
    Graph graph = module.graph();
    Map<String, Tensor> inputs = new LinkedHashMap<>();
    graph.inputs().forEach(input -> inputs.put(input.name(), Tensor.filled(input.type(), 0)));
    List<String> states = module.states().stream().map(Module.State::input).toList();
    ModuleRunner runner = EmittedC.simulated(Distribution.strategy(8, null));
    try (ModuleRunner.Prepared program = runner.prepare(module)) {
      for (int i = 0; i < count; i++) {
        inputs.put("input_ids", Tensor.longs(Shape.of(1, 1), 1000 + 7L * i));
        inputs.put("position", Tensor.longs(Shape.of(1), POSITION + i));
        List<String> names = graph.inputs().stream().map(Value::name).toList();
        ReassociationBound java =
            ReassociationBound.of(graph, names.stream().map(inputs::get).toList());
        List<Tensor> given =
            names.stream().filter(name -> !states.contains(name)).map(inputs::get).toList();
        long start = System.nanoTime();
        Tensor logits = program.run(given).getFirst();
        verify(logits, java, output(graph, "logits"), (System.nanoTime() - start) / 1e9);
        for (Module.State state : module.states()) {
          inputs.put(state.input(), java.outputs().get(output(graph, state.output())));
        }
      }
    }
  }

  private Module decoder(ZooOptions options) throws IOException {
    Path file = folder.resolve("model.onnx");
    Zoo.write("tinyllama-42m", options.withMode(Mode.DECODE).withDynamic(true), file);
    Map<String, Long> dims = Map.of("past", (long) CAPACITY);
    return new Compilation(note -> {}, progress -> {})
        .prepare(new Compilation.Request(file, dims, Map.of(), null));
  }

  private static int output(Graph graph, String name) {
    return graph.outputs().stream().map(Graph.Output::name).toList().indexOf(name);
  }

  private static void verify(Tensor logits, ReassociationBound java, int output, double seconds) {
    Tensor expected = java.outputs().get(output);
    double largest = 0;
    for (int i = 0; i < expected.size(); i++) {
      largest = Math.max(largest, Math.abs(logits.getDouble(i) - expected.getDouble(i)));
    }
    System.out.printf(
        "TinyLlama-42M on 8 chips: largest error %.2g, allowed %.2g, in %.0f s%n",
        largest, java.of(output), seconds);
    assertThat(logits.shape()).isEqualTo(expected.shape());
    assertThat(largest).isLessThanOrEqualTo(java.of(output));
    assertThat(GreedyText.best(logits)).isEqualTo(GreedyText.best(expected));
  }
}
