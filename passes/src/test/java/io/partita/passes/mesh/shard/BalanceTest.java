package io.partita.passes.mesh.shard;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Random;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

class BalanceTest {
  @Test
  void partsAreBalanced() {
    assertThat(Balance.consecutive(List.of(1L, 1L, 1L, 1L), 2)).containsExactly(0, 2);
    assertThat(Balance.consecutive(List.of(9L, 1L, 1L, 1L), 2)).containsExactly(0, 1);
    assertThat(Balance.consecutive(List.of(0L, 0L, 0L), 3)).containsExactly(0, 1, 2);
    assertThat(Balance.consecutive(List.of(5L), 1)).containsExactly(0);
  }

  @Test
  void cutsAreOptimal() {
    Random random = new Random(3);
    for (int round = 0; round < 200; round++) {
      List<Long> loads = LongStream.generate(() -> random.nextInt(9)).limit(7).boxed().toList();
      List<Integer> begins = Balance.consecutive(loads, 3);
      long best = Long.MAX_VALUE;
      for (int first = 1; first < 6; first++) {
        for (int second = first + 1; second < 7; second++) {
          best = Math.min(best, largest(loads, List.of(0, first, second)));
        }
      }
      assertThat(begins).hasSize(3).isSorted().doesNotHaveDuplicates();
      assertThat(largest(loads, begins)).isEqualTo(best);
    }
  }

  private static long largest(List<Long> loads, List<Integer> begins) {
    long largest = 0;
    for (int part = 0; part < begins.size(); part++) {
      int end = part + 1 < begins.size() ? begins.get(part + 1) : loads.size();
      largest =
          Math.max(
              largest, loads.subList(begins.get(part), end).stream().mapToLong(load -> load).sum());
    }
    return largest;
  }
}
