package io.partita.passes.mesh.sync;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;

/**
 * Assignments of heads to devices, as in "SPD: Sync-Point Drop for Efficient Tensor Parallelism of
 * Large Language Models", section 4.2.4.
 */
public final class HeadGroups {
  private static final int STARTS = 32;

  private HeadGroups() {}

  /**
   * Head scattering, equation 2: returns groups of equal size with a large sum of distances within
   * groups. Pairs of heads are exchanged until no exchange improves the sum, beginning with several
   * arrangements. The result is the best one, or the original order if none is better.
   *
   * @param distances the symmetric distances between heads
   * @param groups the number of groups, which divides the number of heads
   * @return the heads of each group, in ascending order
   */
  public static List<List<Integer>> scattered(double[][] distances, int groups) {
    int size = distances.length / groups;
    int[] best = null;
    SplittableRandom random = new SplittableRandom(1);
    for (int start = 0; start < STARTS; start++) {
      int[] group = new int[distances.length];
      Arrays.setAll(group, head -> head / size);
      for (int head = group.length - 1; head > 0 && start > 0; head--) {
        swap(group, head, random.nextInt(head + 1));
      }
      improve(group, distances);
      double gain = best == null ? 1 : within(group, distances) - within(best, distances);
      best = gain > 1e-12 * Math.abs(within(group, distances)) ? group : best;
    }
    List<List<Integer>> sets = new ArrayList<>();
    for (int i = 0; i < groups; i++) {
      sets.add(new ArrayList<>());
    }
    for (int head = 0; head < best.length; head++) {
      sets.get(best[head]).add(head);
    }
    return sets;
  }

  /** Returns the sum of distances of heads in the same group. */
  static double within(int[] group, double[][] distances) {
    double sum = 0;
    for (int i = 0; i < group.length; i++) {
      for (int j = i + 1; j < group.length; j++) {
        sum += group[i] == group[j] ? distances[i][j] : 0;
      }
    }
    return sum;
  }

  private static void improve(int[] group, double[][] distances) {
    boolean isBetter = true;
    while (isBetter) {
      isBetter = false;
      double sum = within(group, distances);
      for (int i = 0; i < group.length; i++) {
        for (int j = i + 1; j < group.length; j++) {
          if (group[i] != group[j]) {
            swap(group, i, j);
            double changed = within(group, distances);
            if (changed > sum * (1 + 1e-12)) {
              sum = changed;
              isBetter = true;
            } else {
              swap(group, i, j);
            }
          }
        }
      }
    }
  }

  private static void swap(int[] group, int i, int j) {
    int other = group[i];
    group[i] = group[j];
    group[j] = other;
  }

  /**
   * MLP matching, equation 3: returns the assignment of groups to devices with the largest sum of
   * norms, by the Hungarian algorithm.
   *
   * @param norms the norms of the outputs of the devices' parts of the network, by group and device
   * @return the device of each group
   */
  public static int[] matched(double[][] norms) {
    int count = norms.length;
    double[] rowPrice = new double[count + 1];
    double[] columnPrice = new double[count + 1];
    int[] row = new int[count + 1];
    for (int i = 1; i <= count; i++) {
      augment(norms, i, row, rowPrice, columnPrice);
    }
    int[] device = new int[count];
    for (int column = 1; column <= count; column++) {
      device[row[column] - 1] = column - 1;
    }
    return device;
  }

  /** Assigns a column to another row; rows and columns are counted from 1. */
  private static void augment(
      double[][] norms, int newRow, int[] row, double[] rowPrice, double[] columnPrice) {
    int count = norms.length;
    double[] slack = new double[count + 1];
    Arrays.fill(slack, Double.POSITIVE_INFINITY);
    boolean[] isUsed = new boolean[count + 1];
    int[] before = new int[count + 1];
    row[0] = newRow;
    int column = 0;
    while (row[column] != 0) {
      isUsed[column] = true;
      int next = 0;
      double least = Double.POSITIVE_INFINITY;
      for (int j = 1; j <= count; j++) {
        if (!isUsed[j]) {
          double cost = -norms[row[column] - 1][j - 1] - rowPrice[row[column]] - columnPrice[j];
          if (cost < slack[j]) {
            slack[j] = cost;
            before[j] = column;
          }
          if (slack[j] < least) {
            least = slack[j];
            next = j;
          }
        }
      }
      for (int j = 0; j <= count; j++) {
        if (isUsed[j]) {
          rowPrice[row[j]] += least;
          columnPrice[j] -= least;
        } else {
          slack[j] -= least;
        }
      }
      column = next;
    }
    while (column != 0) {
      row[column] = row[before[column]];
      column = before[column];
    }
  }
}
