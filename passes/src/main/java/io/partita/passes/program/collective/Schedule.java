package io.partita.passes.program.collective;

import io.partita.ir.message.Step;
import java.util.List;

/**
 * The steps of each device for a collective.
 *
 * @param steps the steps of each device, in order
 */
public record Schedule(Collective collective, List<List<Step>> steps) {
  public Schedule {
    steps = steps.stream().map(List::copyOf).toList();
    if (steps.size() != collective.devices()) {
      throw new IllegalArgumentException(steps.size() + " devices for " + collective);
    }
  }

  /** Returns the bytes that all devices send. */
  public long bytes() {
    long bytes = 0;
    for (int from = 0; from < steps.size(); from++) {
      for (int to = 0; to < steps.size(); to++) {
        bytes += bytes(from, to);
      }
    }
    return bytes;
  }

  /** Returns the bytes that one device sends to another. */
  public long bytes(int from, int to) {
    return steps.get(from).stream()
        .filter(step -> step instanceof Step.Send send && send.to() == to)
        .mapToLong(Step::bytes)
        .sum();
  }

  public int messages() {
    return (int)
        steps.stream().flatMap(List::stream).filter(step -> step instanceof Step.Send).count();
  }
}
