package io.partita.passes.collective;

import io.partita.ir.program.Combine;
import io.partita.ir.program.Slice;
import io.partita.ir.program.Step;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/** Collects steps. Slices that touch are joined, and messages without elements left out. */
final class ScheduleBuilder {
  private final Collective collective;
  private final List<List<Step>> steps = new ArrayList<>();

  ScheduleBuilder(Collective collective) {
    this.collective = collective;
    for (int device = 0; device < collective.devices(); device++) {
      steps.add(new ArrayList<>());
    }
  }

  void send(int device, int to, List<Slice> slices) {
    List<Slice> joined = join(slices);
    if (!joined.isEmpty()) {
      steps.get(device).add(new Step.Send(to, joined, bytes(joined)));
    }
  }

  void receive(int device, int from, List<Slice> slices, Combine combine) {
    List<Slice> joined = join(slices);
    if (!joined.isEmpty()) {
      steps.get(device).add(new Step.Receive(from, joined, bytes(joined), combine));
    }
  }

  private long bytes(List<Slice> slices) {
    return collective.element().packedBytes(slices.stream().mapToLong(Slice::size).sum());
  }

  private static List<Slice> join(List<Slice> slices) {
    List<Slice> joined = new ArrayList<>();
    List<Slice> sorted = new ArrayList<>(slices);
    sorted.sort(Comparator.comparingLong(Slice::start));
    for (Slice slice : sorted) {
      if (slice.size() == 0) {
        continue;
      }
      if (!joined.isEmpty() && joined.getLast().end() == slice.start()) {
        Slice last = joined.removeLast();
        joined.add(new Slice(last.start(), last.size() + slice.size()));
      } else {
        joined.add(slice);
      }
    }
    return joined;
  }

  Schedule build() {
    return new Schedule(collective, steps);
  }
}
