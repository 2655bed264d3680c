package io.partita.passes.program.localize;

import io.partita.ir.function.Combine;
import io.partita.ir.mesh.Algorithm;
import io.partita.ir.message.Slice;
import io.partita.ir.message.Step;
import io.partita.ir.type.ElementType;
import io.partita.passes.program.collective.Collective;
import io.partita.passes.program.collective.CollectiveKind;
import io.partita.passes.program.localize.SyncPlan.Messages;
import io.partita.passes.program.localize.SyncPlan.Part;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.IntStream;
import java.util.stream.LongStream;

/** Finds the collective that gives each device of a group the part that it needs. */
final class GroupExchanges {
  private final Algorithm algorithm;
  private final ElementType element;
  private final ProvedSchedules schedules;

  GroupExchanges(Algorithm algorithm, ElementType element, ProvedSchedules schedules) {
    this.algorithm = algorithm;
    this.element = element;
    this.schedules = schedules;
  }

  /**
   * Reduces partial values of one box. All devices need the same part, or only one device does, or
   * each needs its own part.
   *
   * @param held the boxes that devices hold, all the same or null
   * @param needs the boxes that devices need, or null
   */
  List<Part> join(List<Integer> group, List<Box> held, List<Box> needs, Combine reduction) {
    List<Box> needed = needs.stream().filter(Objects::nonNull).toList();
    if (group.size() == 1 || needed.isEmpty()) {
      return local(held, needs);
    }
    int count = group.size();
    if (needed.size() == 1) {
      int root = needs.indexOf(needed.getFirst());
      List<Long> parts = even(Box.elements(needed.getFirst()), count);
      return parts(
          collective(CollectiveKind.REDUCE, count, root, parts, reduction),
          group,
          held,
          Collections.nCopies(count, needed),
          takers(needs),
          needs);
    } else if (needed.size() == count && new HashSet<>(needed).size() == 1) {
      List<Long> parts = even(Box.elements(needed.getFirst()), count);
      return parts(
          collective(CollectiveKind.ALL_REDUCE, count, 0, parts, reduction),
          group,
          held,
          Collections.nCopies(count, List.of(needed.getFirst())),
          takers(needs),
          needs);
    }
    return parts(
        collective(
            CollectiveKind.REDUCE_SCATTER,
            count,
            0,
            needs.stream().map(Box::elements).toList(),
            reduction),
        group,
        held,
        Collections.nCopies(count, needed),
        takers(needs),
        needs);
  }

  private static List<List<Box>> takers(List<Box> needs) {
    return needs.stream().map(need -> need == null ? List.<Box>of() : List.of(need)).toList();
  }

  /** Exchanges disjoint parts. */
  List<Part> move(List<Integer> group, List<Box> held, List<Box> needs) {
    List<Integer> active = active(held, needs);
    List<Part> all = new ArrayList<>();
    for (int i = 0; i < group.size(); i++) {
      all.add(active.contains(i) ? null : new Part(held.get(i), Optional.empty(), needs.get(i)));
    }
    if (!active.isEmpty()) {
      List<Part> found =
          exchanged(
              active.stream().map(group::get).toList(),
              active.stream().map(held::get).toList(),
              active.stream().map(needs::get).toList());
      for (int i = 0; i < active.size(); i++) {
        all.set(active.get(i), found.get(i));
      }
    }
    return all;
  }

  /** Returns the devices that send or receive. */
  private static List<Integer> active(List<Box> held, List<Box> needs) {
    boolean[] active = new boolean[held.size()];
    for (int to = 0; to < held.size(); to++) {
      if (!Box.contains(held.get(to), needs.get(to))) {
        active[to] = true;
        for (int from = 0; from < held.size(); from++) {
          active[from] |= Box.intersection(held.get(from), needs.get(to)) != null;
        }
      }
    }
    return IntStream.range(0, active.length).filter(i -> active[i]).boxed().toList();
  }

  private List<Part> exchanged(List<Integer> group, List<Box> held, List<Box> needs) {
    int count = group.size();
    Box first = needs.getFirst();
    if (first == null || !needs.stream().allMatch(first::equals)) {
      return exchangedBlocks(group, held, needs);
    }
    List<Box> given = new ArrayList<>();
    held.forEach(box -> given.add(Box.intersection(box, first)));
    List<Box> shards = given.stream().filter(Objects::nonNull).toList();
    requireAll(shards, first);
    boolean isBroadcast = shards.size() == 1;
    return parts(
        isBroadcast
            ? collective(
                CollectiveKind.BROADCAST,
                count,
                given.indexOf(first),
                even(Box.elements(first), count),
                Combine.REPLACE)
            : collective(
                CollectiveKind.ALL_GATHER,
                count,
                0,
                given.stream().map(Box::elements).toList(),
                Combine.REPLACE),
        group,
        held,
        takers(given),
        Collections.nCopies(count, shards),
        needs);
  }

  private List<Part> exchangedBlocks(List<Integer> group, List<Box> held, List<Box> needs) {
    int count = group.size();
    List<Long> sizes = new ArrayList<>();
    List<List<Box>> given = new ArrayList<>();
    List<List<Box>> taken = new ArrayList<>();
    needs.forEach(need -> taken.add(new ArrayList<>()));
    for (int from = 0; from < count; from++) {
      given.add(new ArrayList<>());
      for (int to = 0; to < count; to++) {
        Box block = Box.intersection(held.get(from), needs.get(to));
        sizes.add(Box.elements(block));
        if (block != null) {
          given.get(from).add(block);
          taken.get(to).add(block);
        }
      }
    }
    for (int to = 0; to < count; to++) {
      requireAll(taken.get(to), needs.get(to));
    }
    Collective collective = collective(CollectiveKind.ALL_TO_ALL, count, 0, sizes, Combine.REPLACE);
    return parts(collective, group, held, given, taken, needs);
  }

  private static void requireAll(List<Box> pieces, Box whole) {
    if (pieces.stream().mapToLong(Box::elements).sum() != Box.elements(whole)) {
      throw new AssertionError(pieces + " are not " + whole);
    }
  }

  private static List<Part> local(List<Box> held, List<Box> needs) {
    List<Part> parts = new ArrayList<>();
    for (int i = 0; i < held.size(); i++) {
      parts.add(new Part(held.get(i), Optional.empty(), needs.get(i)));
    }
    return parts;
  }

  private static List<Long> even(long elements, int count) {
    return LongStream.range(0, count)
        .mapToObj(part -> (part + 1) * elements / count - part * elements / count)
        .toList();
  }

  private Collective collective(
      CollectiveKind kind, int devices, int root, List<Long> parts, Combine reduction) {
    return new Collective(kind, devices, root, parts, element, reduction);
  }

  private List<Part> parts(
      Collective collective,
      List<Integer> group,
      List<Box> held,
      List<List<Box>> given,
      List<List<Box>> taken,
      List<Box> needs) {
    List<List<Step>> steps = schedules.steps(collective, algorithm, group);
    List<Part> parts = new ArrayList<>();
    for (int i = 0; i < group.size(); i++) {
      List<Slice> before = Slice.joined(collective.before(i));
      List<Slice> after = Slice.joined(collective.after(i));
      Messages messages =
          new Messages(
              collective.elements(),
              before,
              after,
              steps.get(i),
              before.isEmpty() ? List.of() : given.get(i),
              after.isEmpty() ? List.of() : taken.get(i));
      parts.add(new Part(held.get(i), Optional.of(messages), needs.get(i)));
    }
    return parts;
  }
}
