package io.partita.passes.schedule.place;

import io.partita.passes.schedule.view.Region;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;

/**
 * Chooses the regions that are resident in the home memory when not all of them fit; the others are
 * streamed. A resident byte of a weight saves one transfer per run, that of a state up to two: the
 * second one where more than lines are written back. A smaller ring leaves less time for transfers.
 */
final class Residency {
  /** Choices of the ring's share of the room. */
  private static final List<Integer> PASSING = List.of(56, 48, 40, 32, 24, 16, 12, 8);

  /** The same where a ring is to be small. */
  private static final List<Integer> LITTLE_PASSING = List.of(16, 12, 8, 4, 2, 1);

  /** The unit of these shares is one of so many. */
  private static final int ALL = 64;

  private Residency() {}

  /**
   * Returns several choices of streamed regions.
   *
   * @param large weights and states, in the order of first use
   * @param outside weights that belong to no block
   * @param room for streamed and resident regions together, in bytes
   */
  static List<Set<Region>> choices(List<Region> large, Set<Region> outside, long room, long unit) {
    List<Set<Region>> choices = new ArrayList<>();
    choices.add(all(large));
    choices.add(all(large.stream().filter(outside::contains).toList()));
    choices.add(all(large.stream().filter(each -> !isState(each)).toList()));
    for (int passing : PASSING) {
      Set<Region> streamed = all(large);
      streamed.removeAll(staying(large, room - room * passing / ALL, unit));
      choices.add(streamed);
    }
    return choices;
  }

  /**
   * Returns choices in which states stay before weights of blocks, and these before the others.
   *
   * @param large weights and states, in the order of first use
   * @param outside weights that belong to no block
   * @param room for streamed and resident regions together, in bytes
   */
  static List<Set<Region>> ofLeastTraffic(
      List<Region> large, Set<Region> outside, long room, long unit) {
    List<Region> ordered =
        large.stream()
            .sorted(
                Comparator.comparing(
                    region -> isState(region) ? 0 : outside.contains(region) ? 2 : 1))
            .toList();
    List<Set<Region>> choices = new ArrayList<>();
    choices.add(all(large));
    for (int passing : LITTLE_PASSING) {
      long left = room - room * passing / ALL;
      Set<Region> streamed = all(List.of());
      for (Region region : ordered) {
        long bytes = Placement.aligned(region.bytes(), unit);
        if (bytes <= left) {
          left -= bytes;
        } else {
          streamed.add(region);
        }
      }
      choices.add(streamed);
    }
    return choices;
  }

  private static Set<Region> all(List<Region> regions) {
    Set<Region> all = Collections.newSetFromMap(new IdentityHashMap<>());
    all.addAll(regions);
    return all;
  }

  private static boolean isState(Region region) {
    return region.kind() == Region.Kind.STATE;
  }

  /**
   * Returns the resident regions: states first, then weights spread over the run, which keeps the
   * channel busy throughout.
   */
  private static Set<Region> staying(List<Region> large, long room, long unit) {
    Set<Region> staying = all(List.of());
    List<Region> weights = large.stream().filter(each -> !isState(each)).toList();
    long left = room;
    for (Region state : large) {
      if (isState(state) && Placement.aligned(state.bytes(), unit) <= left) {
        staying.add(state);
        left -= Placement.aligned(state.bytes(), unit);
      }
    }
    double share = (double) left / weights.stream().mapToLong(Region::bytes).sum();
    double owed = 0;
    for (Region weight : weights) {
      long bytes = Placement.aligned(weight.bytes(), unit);
      owed += bytes * share;
      if (bytes <= owed && bytes <= left) {
        staying.add(weight);
        left -= bytes;
        owed -= bytes;
      }
    }
    for (Region weight : weights) {
      long bytes = Placement.aligned(weight.bytes(), unit);
      if (!staying.contains(weight) && bytes <= left) {
        staying.add(weight);
        left -= bytes;
      }
    }
    return staying;
  }
}
