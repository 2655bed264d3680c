package io.partita.driver.evaluate;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.function.ToDoubleFunction;

/**
 * The Pareto front of mixes of methods, one method per block, in bytes and loss, assuming that the
 * bytes and losses of blocks add up; and the search in it.
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

  /**
   * Searches a front for the mix with the fewest bytes whose real loss is within a limit. It is
   * assumed that the real loss rises from mix to mix as the one in the front does. The next mix to
   * measure is the cheapest one that is within the limit if its loss differs from the front's by
   * the difference, or by the factor, of the mix before.
   *
   * @param front in order of ascending bytes
   * @param tries the most mixes to measure
   * @param measured measures the loss of a mix
   * @return the cheapest measured mix within the limit
   */
  static Optional<Mix> cheapest(
      List<Mix> front, double limit, int tries, ToDoubleFunction<Mix> measured) {
    int exceeding = -1;
    int within = front.size();
    double most = limit;
    for (int i = 0; i < tries; i++) {
      int next = exceeding + 1;
      while (next < within && front.get(next).loss > most) {
        next++;
      }
      next = Math.min(next, front.size() - 1);
      if (next <= exceeding || next >= within) {
        break;
      }
      double loss = measured.applyAsDouble(front.get(next));
      if (loss <= limit) {
        within = next;
      } else {
        exceeding = next;
      }
      double predicted = front.get(next).loss;
      most = limit - (loss - predicted);
      most = loss > 0 && predicted > 0 ? Math.max(most, limit / loss * predicted) : most;
    }
    return within == front.size() ? Optional.empty() : Optional.of(front.get(within));
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
