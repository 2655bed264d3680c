package io.partita.passes.cost;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.partita.ir.mesh.Algorithm;
import io.partita.ir.target.TargetDescription;
import io.partita.ir.target.TargetLibrary;
import io.partita.ir.type.ElementType;
import io.partita.passes.collective.Collective;
import io.partita.passes.collective.CollectiveKind;
import org.junit.jupiter.api.Test;

class TiledSyncsTest {
  private static final TargetDescription SIRACUSA = TargetLibrary.find("siracusa");
  private static final Algorithm TREE = new Algorithm.Tree(4);

  private static Collective allReduce(long elements) {
    return Collective.of(CollectiveKind.ALL_REDUCE, 8, elements, ElementType.I32);
  }

  @Test
  void oneTileIsTheKernelAndThenTheSync() {
    double sync = CollectiveCosts.candidate(SIRACUSA, allReduce(8192), TREE).seconds();
    TiledSyncs.Cut whole = TiledSyncs.cut(SIRACUSA, allReduce(8192), TREE, tiles -> 1e-3, 1);
    assertThat(whole.seconds()).isCloseTo(1e-3 + sync, within(1e-12));
  }

  @Test
  void tilesHideASyncBehindTheKernel() {
    double sync = CollectiveCosts.candidate(SIRACUSA, allReduce(8192), TREE).seconds();
    TiledSyncs.Cut eight =
        TiledSyncs.cut(SIRACUSA, allReduce(8192), TREE, tiles -> 1e-3 / tiles, 8);
    assertThat(eight.seconds()).isBetween(1e-3, 1e-3 + sync * 0.8);
    assertThat(TiledSyncs.best(SIRACUSA, allReduce(8192), TREE, tiles -> 1e-3 / tiles, 64).tiles())
        .isGreaterThan(1);
  }

  @Test
  void tilesThatCostMoreThanTheyHideAreNotMade() {
    // A kernel without work, whose start takes 10 us each time.
    assertThat(TiledSyncs.best(SIRACUSA, allReduce(64), TREE, tiles -> 10e-6, 64).tiles())
        .isEqualTo(1);
    assertThatThrownBy(() -> TiledSyncs.cut(SIRACUSA, allReduce(4), TREE, tiles -> 1e-3, 5))
        .isInstanceOf(IllegalArgumentException.class);
  }
}
