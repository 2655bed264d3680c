package io.partita.driver.evaluate;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * The mixes of methods, one for each block, that no other mix beats in both bytes and loss, where
 * bytes and losses of blocks add up.
 */
final class MixFront {
  /** The mixes that are kept after each block; a longer front is thinned. */
  private static final int MOST = 20_000;

  /**
   * What a method costs in a block, beside the exact one.
   *
   * @param bytes sent by all devices for a token, less those of the exact method
   * @param loss more than with the exact method
   */
  record Cost(double bytes, double loss) {}

  /**
   * A mix.
   *
   * @param methods by block, the number of its method
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
   * @param costs by block and method
   * @return by bytes, the fewest first; losses descend
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
    if (front.size() <= MOST) {
      return front;
    }
    List<Mix> kept = new ArrayList<>();
    for (int i = 0; i < MOST; i++) {
      kept.add(front.get((int) ((long) i * (front.size() - 1) / (MOST - 1))));
    }
    return kept;
  }
}
