package io.partita.benchmarks.paper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import org.junit.jupiter.api.Test;

class BlockRunTest {
  private static final long WEIGHTS = 4 * 512 * 512 + 2 * 512 * 2048;

  @Test
  void weightsAreTheBytesOfTheMatrices() {
    assertThat(Workload.AUTOREGRESSIVE.weights()).isEqualTo(WEIGHTS);
    assertThat(Workload.MOBILEBERT.weights()).isEqualTo(6 * 512 * 512);
  }

  @Test
  void attentionCountsForEachRow() {
    assertThat(Workload.AUTOREGRESSIVE.macs()).isEqualTo(WEIGHTS + 2 * 128 * 512);
    assertThat(Workload.PROMPT.macs()).isEqualTo(16 * (WEIGHTS + 2 * 16 * 512));
  }

  @Test
  void loadsOfTheNextBlockHideTheRunOrTheOtherWayRound() {
    BlockRun short8 = new BlockRun(Workload.AUTOREGRESSIVE, "tensor", Examples.EIGHT);
    assertThat(short8.onChip()).isTrue();
    assertThat(short8.cyclesWithLoads()).isEqualTo(WEIGHTS / 8 / 0.8, within(1e-6));
    BlockRun long8 = new BlockRun(Workload.MOBILEBERT, "tensor", Examples.ONE);
    assertThat(long8.onChip()).isFalse();
    assertThat(long8.cyclesWithLoads()).isEqualTo(2_000_512 / 0.8, within(1e-6));
  }

  @Test
  void energyHasEitherNoneOrAllOfTheLoads() {
    BlockRun run = new BlockRun(Workload.AUTOREGRESSIVE, "tensor", Examples.EIGHT);
    assertThat(run.joulesWithoutLoads()).isEqualTo(1.64e-4, within(1e-12));
    assertThat(run.joulesWithLoads()).isEqualTo(1.64e-4 + WEIGHTS * 100e-12, within(1e-12));
  }

  /** Tests that each chip loads all weights if tokens are split. */
  @Test
  void splitTokensTakeAllWeightsOnEachChip() {
    BlockRun run = new BlockRun(Workload.PROMPT, Workload.SEQUENCE, Examples.EIGHT);
    assertThat(run.cyclesWithLoads()).isEqualTo(WEIGHTS / 0.8, within(1e-6));
    assertThat(run.joulesWithLoads()).isEqualTo(1.64e-4 + 8 * WEIGHTS * 100e-12, within(1e-12));
  }

  @Test
  void runsFollowEachOtherAsFastAsL3Loads() {
    assertThat(Examples.ONE.interval()).isEqualTo(2_000_512 / 0.8, within(1e-6));
    assertThat(Examples.EIGHT.interval()).isEqualTo(100_000);
  }
}
