package io.partita.backend.metalium;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;

/** Merges what chips do: equal kernels, and the parts of an exchange, are launched together. */
final class MeshLaunches {
  private final List<Deque<Work>> chips = new ArrayList<>();
  private final Exchanges exchanges;
  private final List<Launch> launches = new ArrayList<>();

  private MeshLaunches(List<List<Work>> chips, Exchanges exchanges) {
    chips.forEach(works -> this.chips.add(new ArrayDeque<>(works)));
    this.exchanges = exchanges;
  }

  /**
   * Returns launches in an order that is the one of each chip.
   *
   * @throws io.partita.ir.diagnostic.PartitaException with {@link MetaliumCode}s
   */
  static List<Launch> of(List<List<Work>> chips, Exchanges exchanges) {
    return new MeshLaunches(chips, exchanges).launches();
  }

  private List<Launch> launches() {
    while (chips.stream().anyMatch(works -> !works.isEmpty())) {
      Optional<Step> step = next();
      if (step.isPresent()) {
        launches.add(new Launch.Same(step.get(), removed(step.get())));
      } else {
        exchange();
      }
    }
    return launches;
  }

  /** The next kernels: if possible, those that no other chip runs later. */
  private Optional<Step> next() {
    List<Step> heads = new ArrayList<>();
    Set<Step> later = new HashSet<>();
    for (Deque<Work> works : chips) {
      boolean isHead = true;
      for (Work work : works) {
        if (!(work instanceof Step step)) {
          break;
        }
        if (isHead) {
          heads.add(step);
        } else {
          later.add(step);
        }
        isHead = false;
      }
    }
    return heads.stream()
        .filter(step -> !later.contains(step))
        .findFirst()
        .or(() -> heads.stream().findFirst());
  }

  private List<Integer> removed(Step step) {
    List<Integer> members = new ArrayList<>();
    for (int chip = 0; chip < chips.size(); chip++) {
      if (step.equals(chips.get(chip).peek())) {
        chips.get(chip).remove();
        members.add(chip);
      }
    }
    return members;
  }

  /** The exchange with the lowest number, which no chip can be beyond. */
  private void exchange() {
    SortedMap<Integer, SortedMap<Integer, ExchangePart>> parts = new TreeMap<>();
    for (int chip = 0; chip < chips.size(); chip++) {
      if (chips.get(chip).peek() instanceof ExchangePart part) {
        parts.computeIfAbsent(part.exchange().sync(), key -> new TreeMap<>()).put(chip, part);
      }
    }
    SortedMap<Integer, ExchangePart> first = parts.firstEntry().getValue();
    first.keySet().forEach(chip -> chips.get(chip).remove());
    launches.addAll(exchanges.launches(first));
  }
}
