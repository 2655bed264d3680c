package io.partita.passes.program.collective;

import io.partita.ir.function.Combine;
import io.partita.ir.message.Slice;
import io.partita.ir.message.Step;
import java.util.ArrayList;
import java.util.List;

/** Collects steps. Adjacent slices are merged, and empty messages are omitted. */
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
    List<Slice> joined = Slice.joined(slices);
    if (!joined.isEmpty()) {
      steps.get(device).add(new Step.Send(to, joined, bytes(joined)));
    }
  }

  void receive(int device, int from, List<Slice> slices, Combine combine) {
    List<Slice> joined = Slice.joined(slices);
    if (!joined.isEmpty()) {
      steps.get(device).add(new Step.Receive(from, joined, bytes(joined), combine));
    }
  }

  private long bytes(List<Slice> slices) {
    return collective.element().packedBytes(Slice.elements(slices));
  }

  Schedule build() {
    return new Schedule(collective, steps);
  }
}
