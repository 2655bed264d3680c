package io.partita.passes.mesh.sync;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.partita.ir.diagnostic.PartitaException;
import io.partita.passes.Pass;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.DoubleStream;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class SyncRulesTest {
  private static SyncRules parsed(String text) {
    return SyncRules.parse(text, Optional.empty());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "all: drop",
        "all: exact",
        "blocks 0-3: drop; blocks 4,5: int4+bf16(k=8)",
        "blocks 0-1,3: drop+int4+bf16; blocks 2: bf16",
        "all: int3(sum=f32)",
        "all: int8+bf16(k=2,random=5)",
        "all: int4(via=scatter)+bf16",
        "all: int6(sum=f32,via=scatter)",
        "all: drop(scatter)",
        "blocks 0-2: vq(k=256,groups=16); others: vq(k=1024,groups=1,of=kv)",
        "blocks 1: drop(scatter)+bf16"
      })
  void textRoundTrips(String text) {
    assertThat(parsed(text)).hasToString(text);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "drop | all: drop",
        "vq(groups=16) | all: vq(k=1024,groups=16)",
        "vq(of=features,k=8) | all: vq(k=8,groups=1)",
        "  block 3 :drop | blocks 3: drop",
        "blocks 0 - 3 , 5: int4 + bf16( k=8 ); | blocks 0-3,5: int4+bf16(k=8)",
        "all: int4+bf16(k=0) | all: int4"
      })
  void equivalentSpellings(String text, String canonical) {
    assertThat(parsed(text)).hasToString(canonical);
  }

  @Test
  void othersAreTheRemainingBlocks() {
    SyncRules rules = parsed("others: bf16; blocks 1,4-5: drop");
    BlockSelection others = rules.clauses().getFirst().blocks();
    assertThat(IntStream.range(0, 8).filter(others::contains)).containsExactly(0, 2, 3, 6, 7);
    assertThat(rules).hasToString("others: bf16; blocks 1,4-5: drop");
  }

  @Test
  void passesDropFirst() {
    assertThat(
            parsed("blocks 1: bf16; blocks 0: drop; blocks 2: drop+bf16")
                .passes(Optional.empty(), Optional.empty()))
        .extracting(Pass::name)
        .containsExactly("drop-syncs", "sync-codec", "sync-codec");
    assertThat(parsed("all: exact").passes(Optional.empty(), Optional.empty())).isEmpty();
  }

  @Test
  void onlyDropsRemainForACalibration() {
    assertThat(parsed("blocks 0: drop+int4; blocks 1: int4").drops()).hasToString("blocks 0: drop");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "'' | a clause such as blocks 0-3: drop",
        "blocks 0-3 | drop",
        "blocks 3-0: drop | ascending",
        "blocks 0: dorp | did you mean 'drop'",
        "blcks 0: drop | did you mean 'blocks 0'?",
        "other: bf16 | did you mean 'others'?",
        "block: drop | blocks 0-3,5, all, others",
        "all: int9 | bits of 2 to 8",
        "all: int1 | bits of 2 to 8",
        "all: int | bits of 2 to 8",
        "all: int4+f16 | int4+bf16(k=8)",
        "all: int4+bf16(k=-1) | NAME=VALUE",
        "all: int4+bf16(q=1) | only [k, random]",
        "all: int4(sum=f16) | sum=bf16 or sum=f32",
        "all: int4(via=star) | via=gather, scatter, tree, ring or best",
        "all: int4(via=best) | error=X",
        "all: int4(via=tree,error=0.1) | error with via=best only",
        "all: int4(via=best,error=.) | error=X",
        "all: drop+drop | exact, drop",
        "all: bf16+int4 | exact, drop",
        "all: drop(k=1) | without options",
        "all: int4+bf16(scatter) | only [k, random]",
        "all: drop(scater) | NAME=VALUE",
        "blocks 0-3: drop; blocks 3: exact | that are in no other clause",
        "all: drop; blocks 3: exact | that are in no other clause",
        "all: drop; others: exact | that are in no other clause",
        "others: drop; others: exact | that are in no other clause"
      })
  void invalidRulesAreRefused(String text, String says) {
    assertThatThrownBy(() -> parsed(text))
        .isInstanceOf(PartitaException.class)
        .hasMessageContaining("P4226")
        .hasMessageContaining(says);
  }

  private static final BlockRanking RANKING =
      new BlockRanking(
          "rank.json",
          "mesh(head=2)",
          0.05,
          1,
          DoubleStream.of(0.5, 0.02, 3, 0.01)
              .mapToObj(sensitivity -> new BlockRanking.Block("", sensitivity))
              .toList(),
          Map.of(0, List.of(1, 0)));

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "ranked 1: drop | blocks 3: drop",
        "ranked 3: drop; others: bf16 | blocks 0,1,3: drop; others: bf16",
        "insensitive: drop | blocks 1,3: drop",
        "ranked 0: drop; others: bf16 | all: bf16"
      })
  void rankingsChooseBlocks(String text, String blocks) {
    assertThat(SyncRules.parse(text, Optional.of(RANKING))).hasToString(blocks);
  }

  @Test
  void blocksHaveThreeSensitivities() {
    assertThat(RANKING.order()).containsExactly(3, 1, 0, 2);
    assertThat(IntStream.range(0, 4).mapToObj(RANKING::kind))
        .containsExactly(
            BlockRanking.Kind.SENSITIVE,
            BlockRanking.Kind.INSENSITIVE,
            BlockRanking.Kind.EXTREMELY_SENSITIVE,
            BlockRanking.Kind.INSENSITIVE);
  }

  @Test
  void rankedBlocksNeedARanking() {
    assertThatThrownBy(() -> parsed("ranked 2: drop")).hasMessageContaining("--ranking FILE");
    assertThatThrownBy(() -> parsed("insensitive: drop")).hasMessageContaining("--ranking FILE");
    assertThatThrownBy(() -> SyncRules.parse("ranked 5: drop", Optional.of(RANKING)))
        .hasMessageContaining("at most 4 ranked blocks");
    assertThatThrownBy(
            () -> SyncRules.parse("ranked 2: drop; blocks 1: exact", Optional.of(RANKING)))
        .hasMessageContaining("that are in no other clause");
  }

  @Test
  void scatteredHeadsNeedAnOrder() {
    Optional<BlockRanking> ranking = Optional.of(RANKING);
    assertThat(parsed("blocks 0: drop(scatter)").passes(Optional.empty(), ranking))
        .extracting(Pass::name)
        .containsExactly("reorder-heads", "drop-syncs");
    assertThatThrownBy(() -> parsed("blocks 0-1: drop(scatter)").passes(Optional.empty(), ranking))
        .hasMessageContaining("heads of block 1")
        .hasMessageContaining("--scatter");
    assertThatThrownBy(
            () -> parsed("all: drop(scatter)").passes(Optional.empty(), Optional.empty()))
        .hasMessageContaining("--ranking FILE");
  }

  @Test
  void integerCodesNeedACalibration() {
    SyncRules rules = parsed("blocks 0: exact; blocks 1: int4");
    assertThatThrownBy(() -> rules.passes(Optional.empty(), Optional.empty()))
        .hasMessageContaining("P4226")
        .hasMessageContaining("--calibration FILE");
  }
}
