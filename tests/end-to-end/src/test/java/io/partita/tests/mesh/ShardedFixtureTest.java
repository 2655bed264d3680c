package io.partita.tests.mesh;

import static org.assertj.core.api.Assertions.assertThat;

import io.partita.driver.StandardPasses;
import io.partita.driver.cases.CaseResult;
import io.partita.driver.cases.CaseRunner;
import io.partita.driver.cases.TestCase;
import io.partita.ir.mesh.SyncKind;
import io.partita.passes.mesh.shard.Strategy;
import io.partita.passes.mesh.shard.WeightHolding;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.IntPredicate;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Real exports with weights split over devices that run in lock step give the recorded results,
 * with two sums per block (one if attention and network read the same value) and no duplicated
 * matrix.
 */
class ShardedFixtureTest {
  private static final Path FIXTURES = Path.of("../fixtures");
  private static final List<Integer> DEVICES = List.of(1, 2, 3, 4, 5, 6, 7, 8, 12, 16);

  /** One export of each form of a block, on any number of devices. */
  private static final Set<String> ON_ALL =
      Set.of(
          "bert/ts_sdpa_dynamic",
          "gpt2/dynamo_sdpa_kv",
          "gpt_neox/ts_eager",
          "llama/dynamo_mqa",
          "llama/ts_sdpa_static",
          "mobilebert/dynamo_sdpa_dynamic",
          "quantized/llama_qdq",
          "vit/dynamo_sdpa_static");

  /** Attention and network read the same value, so their sums are joined once. */
  private static final Set<String> PARALLEL = Set.of("falcon", "gpt_neox", "phi");

  /** Attention and four networks, with only linear operations in between. */
  private static final Map<String, Integer> SUMS = Map.of("mobilebert", 5);

  /** Half of the fixtures, each on one number of devices. */
  static Stream<Arguments> fixtures() {
    return chosen(true);
  }

  private static Stream<Arguments> chosen(boolean areFirst) {
    List<Arguments> all = new ArrayList<>();
    List<TestCase> cases = TestCase.find(FIXTURES);
    for (int i = 0; i < cases.size(); i++) {
      TestCase test = cases.get(i);
      String name = FIXTURES.relativize(Path.of(test.name())).toString();
      int first = i % DEVICES.size();
      IntStream others =
          ON_ALL.contains(name)
              ? IntStream.range(0, DEVICES.size()).filter(number -> number != first)
              : isModel(name) ? IntStream.of((first + 4) % DEVICES.size()) : IntStream.empty();
      boolean isDefault = i / DEVICES.size() % 2 == 0;
      IntStream chosen = areFirst == isDefault ? IntStream.of(first) : IntStream.empty();
      (areFirst ? chosen : IntStream.concat(chosen, others))
          .map(DEVICES::get)
          .forEach(devices -> all.add(Arguments.of(name, devices, test)));
    }
    return all.stream();
  }

  /** Every fourth of the other fixtures, and of models on other numbers. */
  static Stream<Arguments> someOtherDevices() {
    return otherDevices(number -> number % 4 == 0);
  }

  static Stream<Arguments> remainingDevices() {
    return otherDevices(number -> number % 4 != 0);
  }

  private static Stream<Arguments> otherDevices(IntPredicate which) {
    List<Arguments> all = chosen(false).toList();
    return IntStream.range(0, all.size()).filter(which).mapToObj(all::get);
  }

  @Tag("thorough")
  @ParameterizedTest(name = "{0} on {1} devices")
  @MethodSource("someOtherDevices")
  void otherDevicesAgreeWithTheRecording(String name, int devices, TestCase test) {
    devicesAgreeWithTheRecording(name, devices, test);
  }

  @Tag("exhaustive")
  @ParameterizedTest(name = "{0} on {1} devices")
  @MethodSource("remainingDevices")
  void remainingDevicesAgreeWithTheRecording(String name, int devices, TestCase test) {
    devicesAgreeWithTheRecording(name, devices, test);
  }

  @ParameterizedTest(name = "{0} on {1} devices")
  @MethodSource("fixtures")
  void devicesAgreeWithTheRecording(String name, int devices, TestCase test) {
    Sharded sharded = new Sharded(Strategy.tensor(devices));
    CaseResult result =
        new CaseRunner(sharded, StandardPasses.usual(), FixtureTolerance.of(test)).run(test);
    assertThat(result.status()).as(result.detail()).isEqualTo(CaseResult.Status.PASS);
    if (devices == 1) {
      assertThat(sharded.exchanges()).isEmpty();
    } else if (isModel(name)) {
      verifySyncs(name, sharded);
      verifyNothingTwice(sharded);
    }
  }

  /** The others are single operators as written by exporters. */
  private static boolean isModel(String name) {
    return !Set.of(
            "microsoft",
            "dynamic",
            "external",
            "functions",
            "if_constant",
            "shape_chains",
            "encodings")
        .contains(family(name));
  }

  private static String family(String name) {
    return name.substring(0, name.indexOf('/'));
  }

  private static void verifySyncs(String name, Sharded sharded) {
    int blocks =
        sharded.sharding().anatomy().blocks().size()
            + sharded.sharding().anatomy().integerAttentions().size();
    int sums = PARALLEL.contains(family(name)) ? 1 : SUMS.getOrDefault(family(name), 2);
    assertThat(blocks).isPositive();
    assertThat(sharded.count(SyncKind.ALL_REDUCE)).isEqualTo((long) sums * blocks);
    assertThat(sharded.count(SyncKind.ALL_GATHER)).as(name).isEqualTo(gathers(name));
    assertThat(sharded.exchanges())
        .allMatch(sync -> sync.is(SyncKind.ALL_REDUCE) || sync.is(SyncKind.ALL_GATHER));
  }

  /** Outside blocks, the embedding or the patches are joined once. */
  private static int gathers(String name) {
    return switch (family(name)) {
      // No embedding.
      case "torch_nn" -> 0;
      // Three linear layers between a bottleneck and the rest in each of two blocks, and the outer
      // ones.
      case "mobilebert" -> 9;
      // A linear layer before the scores, or scores that become floats after they are joined.
      case "bert" -> name.contains("mlm") ? 2 : 1;
      // Embeddings that are added in integers stay whole.
      case "quantized" -> name.endsWith("bert_qoperator") ? 0 : 1;
      default -> 1;
    };
  }

  /**
   * No trained matrix is on two devices, except those of keys and values if there are more devices
   * than kv heads.
   */
  private static void verifyNothingTwice(Sharded sharded) {
    boolean isGrouped = sharded.sharding().mesh().has("group") || hasOneKeyHead(sharded);
    assertThat(WeightHolding.duplicates(sharded.module()))
        .filteredOn(weight -> weight.type().rank() == 2 && weight.type().element().isFloat())
        .filteredOn(weight -> !isGrouped)
        .filteredOn(weight -> weight.type().shape().elements() > 400)
        .isEmpty();
  }

  private static boolean hasOneKeyHead(Sharded sharded) {
    return sharded.sharding().anatomy().blocks().stream()
        .anyMatch(block -> block.attention().kvHeads().is(1));
  }
}
