package io.partita.passes.mesh.shard;

import java.util.ArrayList;
import java.util.List;

/** Divides a sequence of loads into balanced parts. */
final class Balance {
  private Balance() {}

  /**
   * Returns consecutive, nonempty parts whose largest load is minimal; the first parts are as long
   * as that allows.
   *
   * @param loads at least as many as parts
   * @return the index at which each part begins
   */
  static List<Integer> consecutive(List<Long> loads, int parts) {
    int count = loads.size();
    long[] before = new long[count + 1];
    for (int i = 0; i < count; i++) {
      before[i + 1] = before[i] + loads.get(i);
    }
    // least[p][i]: the largest part if the loads from i on are divided into p parts
    long[][] least = new long[parts + 1][count + 1];
    for (int i = 0; i <= count; i++) {
      least[1][i] = before[count] - before[i];
    }
    for (int p = 2; p <= parts; p++) {
      for (int i = 0; i <= count - p; i++) {
        least[p][i] = Long.MAX_VALUE;
        for (int end = i + 1; end <= count - p + 1; end++) {
          long most = Math.max(before[end] - before[i], least[p - 1][end]);
          least[p][i] = Math.min(least[p][i], most);
        }
      }
    }
    List<Integer> begins = new ArrayList<>(List.of(0));
    for (int p = parts; p > 1; p--) {
      int begin = begins.getLast();
      int end = count - p + 1;
      while (Math.max(before[end] - before[begin], least[p - 1][end]) > least[parts][0]) {
        end--;
      }
      begins.add(end);
    }
    return begins;
  }
}
