package io.partita.benchmarks.paper;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

class GoalsTest {
  @Test
  void eachGoalSaysWhetherItIsMet() {
    assertThat(lines(Examples.ALL))
        .isEqualTo(
            """
            | int8 gemm, operands in L1 | at least 19 MAC/cycle | 15.5 (PULP-NN), limit 21.3 | 20 MAC/cycle | yes |  |
            | int8 gemv, weights from L2 | at least 6.7 MAC/cycle | limit 7.97 | 5 MAC/cycle | **no** | cores compute in 90 % of the loop |
            | the same, requantized to int8 | at least 6.7 MAC/cycle | limit 7.97 | 7.14 MAC/cycle | yes |  |
            | f32 gemm, operands in L1 | at least 3.3 MAC/cycle | limit 4 | 3.01 MAC/cycle | **no** | 1010 cycles for each block of 16 sums besides its products at the limit |
            | integer networks, of Deeploy's cycles | at most 0.5 | 1 | 0.9 | **no** | slow 0.9, missing not measured; [all](#beside-deeploy) |
            | float networks, of Deeploy's cycles | at most 0.6 | 1 | 0.6 | yes |  |
            | single kernels, of Deeploy's cycles | at most 1 | 1 | 1.1 | **no** | kernel 1.1; [all](#beside-deeploy) |
            | TinyLlama block, token, 8 chips, weights on chips | at most 0.15 ms | 0.54 ms | 0.2 ms | **no** | computing 50 %, L2 and control 20 %, waiting for L3 5 %, links 25 % |
            | the same with loads of weights from L3 | at most 0.48 mJ | 0.64 mJ | 0.479 mJ | yes |  |
            | the same without | at most 0.16 mJ |  | 0.164 mJ | **no** | computing 0.136 mJ, L2 0.008 mJ, links 0.020 mJ |
            | the same on 1 chip, of L3's time | at most 1.1 |  | 1 | yes |  |
            | whole TinyLlama-42M on 8 chips, from token to token: of the longer of L3's time and computing | at most 1.1 |  | 1.08 | yes |  |
            | TinyLlama-42M with 64 heads in 8 bits on 16 chips: loads of blocks | at most 0 MB | 32 chips | not measured |  |  |
            | TinyLlama-42M with 64 heads in 4 bits on 8 chips: loads of blocks | at most 0 MB | 32 chips | 0 MB | yes |  |
            | TinyLlama block, 16 tokens, 8 chips | at most 0.9 ms |  | not measured |  |  |
            | the same on 1 chip, of the longer of L3's time and products at 21.3 MAC/cycle | at most 1.15 |  | not measured |  |  |
            | speedup of 8 chips over that one |  | 9.9 | not measured |  |  |
            | MobileBERT block, 4 chips | at most 16 ms | 38.8 ms | not measured |  |  |
            | TinyLlama block with 64 heads, token, 64 chips | at most 0.13 ms |  | not measured |  |  |
            | the same on 1 chip, of the longer of L3's time and products at 21.3 MAC/cycle | at most 1.15 |  | not measured |  |  |
            | speedup of 64 chips over that one |  | 60.1 | not measured |  |  |
            | predictions of all runs of this page: median of the errors | at most 6 % |  | 5 % | yes |  |
            """);
  }

  @Test
  void aGoalOfSeveralNetworksNeedsAllOfThem() {
    List<PeerRun> peers =
        List.of(
            new PeerRun("half", true, false, 1000, 500),
            new PeerRun("missing", true, false, 1000, 0));
    Measurements measured =
        new Measurements(List.of(), List.of(), List.of(), List.of(), List.of(), peers);
    assertThat(lines(measured))
        .contains(
            "| integer networks, of Deeploy's cycles | at most 0.5 | 1 | 0.5 | **no** | missing not"
                + " measured; [all](#beside-deeploy) |\n");
  }

  @Test
  void whatWasNotMeasuredIsNeitherMetNorMissed() {
    Measurements none =
        new Measurements(List.of(), List.of(), List.of(), List.of(), List.of(), List.of());
    assertThat(Goals.of(none))
        .hasSameSizeAs(Goals.of(Examples.ALL))
        .allSatisfy(goal -> assertThat(goal.line()).matches(".* \\| not measured \\|  \\|  \\|"));
  }

  @Test
  void aBoundItselfIsMet() {
    assertThat(Goal.atMost(2, "", "", "", Optional.of(2.0), "").isMet()).isTrue();
    assertThat(Goal.atLeast(2, "", "", "", Optional.of(2.0), "").isMet()).isTrue();
    assertThat(Goal.atMost(2, "", "", "", Optional.of(2.01), "").isMet()).isFalse();
    assertThat(Goal.atLeast(2, "", "", "", Optional.of(1.99), "").isMet()).isFalse();
  }

  @Test
  void numbersHaveThreeDigitsAsFarAsNeeded() {
    assertThat(
            List.of(1234.4, 100.0, 26.1, 20.0, 0.54, 0.1549, 9.0, 0.0).stream().map(Goal::number))
        .containsExactly("1,234", "100", "26.1", "20", "0.54", "0.155", "9", "0");
  }

  private static String lines(Measurements measured) {
    return Goals.of(measured).stream()
        .map(goal -> goal.line() + "\n")
        .collect(Collectors.joining());
  }
}
