package io.partita.passes.mesh.sync;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class HeadGroupsTest {
  private static double[][] random(int count, int seed, boolean isSymmetric) {
    Random random = new Random(seed);
    double[][] matrix = new double[count][count];
    for (int i = 0; i < count; i++) {
      for (int j = 0; j < count; j++) {
        matrix[i][j] =
            isSymmetric && j < i ? matrix[j][i] : i == j && isSymmetric ? 0 : random.nextDouble();
      }
    }
    return matrix;
  }

  /** Returns the best of all arrangements of equal size. */
  private static double best(double[][] distances, int groups, int[] group, int head) {
    if (head == group.length) {
      return HeadGroups.within(group, distances);
    }
    double best = 0;
    for (int i = 0; i < groups; i++) {
      int each = i;
      if (Arrays.stream(group, 0, head).filter(g -> g == each).count() < group.length / groups) {
        group[head] = i;
        best = Math.max(best, best(distances, groups, group, head + 1));
      }
    }
    return best;
  }

  @ParameterizedTest
  @CsvSource({"4,2", "6,2", "6,3", "8,2", "8,4"})
  void scatteringIsOptimal(int heads, int groups) {
    for (int seed = 0; seed < 10; seed++) {
      double[][] distances = random(heads, seed, true);
      List<List<Integer>> sets = HeadGroups.scattered(distances, groups);
      int[] group = new int[heads];
      for (int i = 0; i < groups; i++) {
        assertThat(sets.get(i)).hasSize(heads / groups).isSorted();
        for (int head : sets.get(i)) {
          group[head] = i;
        }
      }
      assertThat(sets.stream().flatMap(List::stream)).hasSize(heads).doesNotHaveDuplicates();
      assertThat(HeadGroups.within(group, distances))
          .isCloseTo(best(distances, groups, new int[heads], 0), within(1e-9));
    }
  }

  @Test
  void equalDistancesKeepTheOrder() {
    double[][] distances = new double[6][6];
    assertThat(HeadGroups.scattered(distances, 3))
        .containsExactly(List.of(0, 1), List.of(2, 3), List.of(4, 5));
  }

  private static double best(double[][] norms, List<Integer> left, int group) {
    double best = left.isEmpty() ? 0 : Double.NEGATIVE_INFINITY;
    for (int device : left) {
      List<Integer> others = new ArrayList<>(left);
      others.remove(Integer.valueOf(device));
      best = Math.max(best, norms[group][device] + best(norms, others, group + 1));
    }
    return best;
  }

  @ParameterizedTest
  @CsvSource({"1", "2", "3", "5", "7"})
  void matchingIsOptimal(int count) {
    for (int seed = 0; seed < 10; seed++) {
      double[][] norms = random(count, seed, false);
      int[] devices = HeadGroups.matched(norms);
      assertThat(Arrays.stream(devices).distinct().count()).isEqualTo(count);
      double sum = IntStream.range(0, count).mapToDouble(i -> norms[i][devices[i]]).sum();
      List<Integer> all = IntStream.range(0, count).boxed().toList();
      assertThat(sum).isCloseTo(best(norms, all, 0), within(1e-9));
    }
  }
}
