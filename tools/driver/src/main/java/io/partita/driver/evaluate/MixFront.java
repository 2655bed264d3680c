package io.partita.driver.evaluate;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * The Pareto front of mixes of methods, one method per block, in bytes and loss, assuming that the
 * bytes and losses of blocks add up.
 */
final class MixFront {
  /** The most mixes kept after each block; a longer front is thinned. */
  private static final int MAX = 20_000;

  /**
   * The cost of a method in a block, relative to the exact one.
   *
   * @param bytes the bytes sent by all devices per token, minus those of the exact method
   * @param loss the additional loss
   */
  record Cost(double bytes, double loss) {}

  /**
   * A mix.
   *
   * @param methods the index of the method of each block
   */
  record Mix(List<Integer> methods, double bytes, double loss) {
    Mix {
      methods = List.copyOf(methods);
    }

    private Mix with(int method, Cost cost) {
      List<Integer> more = new ArrayList<>(methods);
      more.add(method);
      return new Mix(more, bytes + cost.bytes, loss + cost.loss);
    }
  }

  private MixFront() {}

  /**
   * @param costs the costs by block and method
   * @return the front in order of ascending bytes and descending losses
   */
  static List<Mix> of(List<List<Cost>> costs) {
    List<Mix> front = List.of(new Mix(List.of(), 0, 0));
    for (List<Cost> block : costs) {
      List<Mix> more = new ArrayList<>();
      for (Mix mix : front) {
        for (int method = 0; method < block.size(); method++) {
          more.add(mix.with(method, block.get(method)));
        }
      }
      front = thinned(undominated(more));
    }
    return front;
  }

  private static List<Mix> undominated(List<Mix> mixes) {
    List<Mix> sorted = new ArrayList<>(mixes);
    sorted.sort(Comparator.comparingDouble(Mix::bytes).thenComparingDouble(Mix::loss));
    List<Mix> front = new ArrayList<>();
    for (Mix mix : sorted) {
      if (front.isEmpty() || mix.loss < front.getLast().loss) {
        front.add(mix);
      }
    }
    return front;
  }

  private static List<Mix> thinned(List<Mix> front) {
    if (front.size() <= MAX) {
      return front;
    }
    List<Mix> kept = new ArrayList<>();
    for (int i = 0; i < MAX; i++) {
      kept.add(front.get((int) ((long) i * (front.size() - 1) / (MAX - 1))));
    }
    return kept;
  }
}
