package io.partita.ir.target;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class WorkSharingTest {
  private static final int CORES = 8;

  /** 2 × 3 blocks of 4 × 4 in each of 2 batches are two for some of eight cores. */
  @Test
  void blocksAtEdgesCountAsWholeBlocks() {
    WorkSharing blocks = new WorkSharing(4, 4, 0);
    assertThat(blocks.most(2, 5, 10, 3, CORES)).isEqualTo(new WorkSharing.Part(2, 32, 96));
    assertThat(blocks.most(1, 1, 16, 3, CORES)).isEqualTo(new WorkSharing.Part(1, 4, 12));
  }

  /** As in gemm_f32.c: 15 blocks of 4, 4 and 1 rows for three matrices of 9 x 20. */
  @Test
  void fewBlocksOfFloatsHaveFourRows() {
    WorkSharing blocks = new WorkSharing(6, 4, 0);
    assertThat(blocks.most(3, 9, 20, 2, CORES)).isEqualTo(new WorkSharing.Part(6, 96, 192));
  }

  /** 33 rows are four blocks of six rows, two of four and one row: 126 blocks, 16 for a core. */
  @Test
  void manyBlocksOfFloatsHaveSixRows() {
    WorkSharing blocks = new WorkSharing(6, 4, 0);
    assertThat(blocks.most(1, 33, 70, 1, CORES)).isEqualTo(new WorkSharing.Part(16, 384, 384));
  }

  /** 100 elements are 13 parts of 8: two for some cores, which walk along up to three lines. */
  @Test
  void sharesContinueAcrossLines() {
    WorkSharing parts = new WorkSharing(0, 8, 0);
    assertThat(parts.most(1, 10, 10, 1, CORES)).isEqualTo(new WorkSharing.Part(2.6, 16, 16));
    assertThat(parts.most(1, 1, 100, 1, CORES)).isEqualTo(new WorkSharing.Part(1, 16, 16));
  }

  @Test
  void fewLinesAreDividedAmongCores() {
    WorkSharing whole = new WorkSharing(0, 0, 0);
    assertThat(whole.most(1, 9, 10, 2, CORES)).isEqualTo(new WorkSharing.Part(2, 20, 40));
    assertThat(whole.most(1, 2, 80, 1, CORES)).isEqualTo(new WorkSharing.Part(1, 80, 80));
    WorkSharing half = new WorkSharing(0, 0, 0.5);
    assertThat(half.most(1, 2, 80, 1, CORES)).isEqualTo(new WorkSharing.Part(2, 90, 90));
    assertThat(half.most(1, 9, 10, 2, CORES)).isEqualTo(new WorkSharing.Part(2, 20, 40));
  }

  @Test
  void emptyShapesAreNoWork() {
    for (WorkSharing sharing :
        new WorkSharing[] {
          new WorkSharing(4, 4, 0), new WorkSharing(0, 8, 0), new WorkSharing(0, 0, 1)
        }) {
      assertThat(sharing.most(1, 0, 5, 5, CORES)).isEqualTo(new WorkSharing.Part(0, 0, 0));
    }
  }
}
