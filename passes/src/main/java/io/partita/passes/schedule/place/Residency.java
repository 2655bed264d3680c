package io.partita.passes.schedule.place;

import io.partita.passes.schedule.view.Region;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;

/**
 * What may stay in L2 where not all has room: all but what passes through the rest. A byte that
 * stays saves its transfers in each run, and a state's byte two; less room to pass through leaves
 * less time for the others' transfers.
 */
final class Residency {
  /** Of the room for weights and states, so many sixteenths for what passes. */
  private static final List<Integer> PASSING = List.of(14, 12, 10, 8, 6, 4, 3, 2);

  private static final int ALL = 16;

  private Residency() {}

  /**
   * What passes through L2, in several ways.
   *
   * @param large weights and states, in the order in which they're needed
   * @param outside weights of no block
   * @param room in bytes, for them and for those that stay
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

  private static Set<Region> all(List<Region> regions) {
    Set<Region> all = Collections.newSetFromMap(new IdentityHashMap<>());
    all.addAll(regions);
    return all;
  }

  private static boolean isState(Region region) {
    return region.kind() == Region.Kind.STATE;
  }

  /** States first, then weights from all over the run, so that transfers can go on all the time. */
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
