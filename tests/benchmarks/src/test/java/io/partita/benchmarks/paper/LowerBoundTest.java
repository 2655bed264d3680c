package io.partita.benchmarks.paper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class LowerBoundTest {
  @ParameterizedTest
  @CsvSource({
    "0, 0, 0",
    "0, 3, 1",
    "1, 2, 2",
    "4, 0, 1",
    "1, 5, 3",
    "63, 0, 3",
    "33, 63, 5",
    "45, 63, 6"
  })
  void messagesPassTheLinksOfTheTree(int one, int other, int hops) {
    assertThat(LowerBound.hops(one, other)).isEqualTo(hops);
    assertThat(LowerBound.hops(other, one)).isEqualTo(hops);
  }

  /** By hand: of bytes and kernels, the longest counts. */
  @Test
  void theLongestOfThreeAndTheWaysOfMessages() {
    BlockRun block = Examples.ALL.of(Workload.AUTOREGRESSIVE, 8).orElseThrow();
    LowerBound bound = LowerBound.of(block);
    double bytes = 3_145_728 + 2 * 128 * 512;
    assertThat(bound.weights()).isCloseTo(bytes / 8 / 7.97, within(1e-9));
    assertThat(bound.kernels()).isEqualTo(41_000);
    assertThat(bound.links()).isEqualTo(57_344 / 8.0);
    assertThat(bound.ways()).isEqualTo(2 * (3 * 100 + 2 * 60));
    assertThat(bound.cycles()).isEqualTo(bound.weights() + bound.ways());
  }

  @Test
  void normsSplitByTokensHaveTwiceAsManyExchanges() {
    BlockRun block = new BlockRun(Workload.PROMPT, "tensor,norm=tokens", Examples.EIGHT);
    LowerBound bound = LowerBound.of(block);
    assertThat(bound.ways()).isEqualTo(4 * (3 * 100 + 2 * 60));
  }

  @Test
  void groupsHaveShorterWaysAndAllWeightsEach() {
    String groups = "sequence=2,tensor=4,norm=tokens";
    LowerBound all = LowerBound.of(new BlockRun(Workload.PROMPT, "tensor", Examples.EIGHT));
    LowerBound bound = LowerBound.of(new BlockRun(Workload.PROMPT, groups, Examples.EIGHT));
    assertThat(bound.ways()).isEqualTo(4 * (2 * 100 + 2 * 60));
    assertThat(bound.weights()).isGreaterThan(1.9 * all.weights());
  }
}
