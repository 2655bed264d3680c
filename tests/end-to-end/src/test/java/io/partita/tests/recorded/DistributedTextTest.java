package io.partita.tests.recorded;

import static org.assertj.core.api.Assertions.assertThat;

import io.partita.backend.java.DeviceHosting;
import io.partita.driver.Distribution;
import io.partita.driver.Sharding;
import io.partita.driver.cases.JavaRunner;
import io.partita.driver.cases.ModuleRunner;
import io.partita.ir.tensor.Tensor;
import io.partita.passes.mesh.shard.Strategy;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Two trained character-level Llamas write the same text on any number of devices. */
@Timeout(300)
class DistributedTextTest {
  private static final int CONTEXT = 256;
  private static final String TINY = "tiny-shakespeare";
  private static final String LARGE = "shakespeare-llama";

  private static TrainedModel model(String name) {
    return new TrainedModel(
        name.equals(TINY)
            ? Path.of("../models", TINY)
            : SharedFolder.require("models/" + name, "it comes with the project's shared data"));
  }

  @ParameterizedTest(name = "{0} on {1} devices")
  @CsvSource(TINY + ",3")
  void threadsWriteTheGreedyText(String name, int devices) {
    writesTheGreedyText(model(name), runner(devices, null, new DeviceHosting.Threads()));
  }

  @Tag("thorough")
  @ParameterizedTest(name = "{0} on {1} devices")
  @CsvSource({TINY + ",2", LARGE + ",3"})
  void otherThreadsWriteTheGreedyText(String name, int devices) {
    threadsWriteTheGreedyText(name, devices);
  }

  @Tag("exhaustive")
  @ParameterizedTest(name = "{0} on {1} devices")
  @CsvSource({TINY + ",1", TINY + ",5", TINY + ",8", LARGE + ",1", LARGE + ",6", LARGE + ",8"})
  void moreThreadsWriteTheGreedyText(String name, int devices) {
    otherThreadsWriteTheGreedyText(name, devices);
  }

  @Tag("thorough")
  @ParameterizedTest(name = "{0}")
  @ValueSource(strings = {"pipeline=2,tensor=2", "tensor=3,capacities=1:2:1"})
  void anyStrategyWritesTheGreedyText(String strategy) {
    writesTheGreedyText(model(TINY), runner(null, strategy, new DeviceHosting.Threads()));
  }

  @Tag("exhaustive")
  @ParameterizedTest(name = "{0}")
  @ValueSource(strings = {"pipeline=2", "tensor=4,norm=root", "tensor=16,inside=2"})
  void moreStrategiesWriteTheGreedyText(String strategy) {
    anyStrategyWritesTheGreedyText(strategy);
  }

  @Tag("thorough")
  @ParameterizedTest(name = "{0}")
  @ValueSource(strings = TINY)
  void fourProcessesWriteTheGreedyText(String name) {
    writesTheGreedyText(model(name), runner(4, null, new DeviceHosting.Processes()));
  }

  @Tag("exhaustive")
  @ParameterizedTest(name = "{0}")
  @ValueSource(strings = LARGE)
  void fourProcessesWriteTheTextOfALargeModel(String name) {
    fourProcessesWriteTheGreedyText(name);
  }

  private static ModuleRunner runner(Integer devices, String strategy, DeviceHosting hosting) {
    Optional<Strategy> chosen = Distribution.strategy(devices, strategy);
    return new JavaRunner(chosen.map(Sharding::of), hosting);
  }

  private static void writesTheGreedyText(TrainedModel model, ModuleRunner runner) {
    long[] expected = model.array("greedy.npz", "tokens").longs();
    int prompt = model.array("greedy.npz", "prompt").size();
    long[] tokens = Arrays.copyOf(Arrays.copyOf(expected, prompt), expected.length);
    try (CachedDecoder decoder = CachedDecoder.stateful(model.network("decode"), CONTEXT, runner)) {
      for (int i = 1; i < tokens.length; i++) {
        Tensor logits = decoder.next(tokens[i - 1], i - 1);
        tokens[i] = i < prompt ? tokens[i] : best(logits);
      }
    }
    assertThat(model.text(LongStream.of(tokens))).isEqualTo(model.info("greedy_text"));
  }

  private static int best(Tensor logits) {
    List<Integer> order = IntStream.range(0, logits.size()).boxed().toList();
    return order.stream().reduce(0, (a, b) -> logits.getDouble(b) > logits.getDouble(a) ? b : a);
  }
}
