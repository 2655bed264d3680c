package io.partita.passes.program.collective;

import io.partita.ir.function.Combine;
import io.partita.ir.message.Slice;
import java.util.ArrayList;
import java.util.List;

/**
 * Schedules in which each device sends to the next one. In each round, even devices send and then
 * receive, and odd ones receive and then send, which avoids a cycle of waiting sends. If channels
 * hold a message, all send first.
 */
final class RingSchedules {
  private final Collective collective;
  private final int devices;
  private final List<Slice> parts;
  private final ScheduleBuilder builder;
  private final boolean buffered;

  private RingSchedules(Collective collective, boolean buffered) {
    this.buffered = buffered;
    this.collective = collective;
    this.devices = collective.devices();
    this.parts = collective.slices();
    this.builder = new ScheduleBuilder(collective);
  }

  static Schedule of(Collective collective, boolean buffered) {
    RingSchedules schedules = new RingSchedules(collective, buffered);
    if (collective.devices() > 1) {
      schedules.rounds();
    }
    return schedules.builder.build();
  }

  private void rounds() {
    switch (collective.kind()) {
      case ALL_REDUCE -> {
        reduceParts();
        gatherParts();
      }
      case REDUCE_SCATTER -> reduceParts();
      case ALL_GATHER -> gatherParts();
      case BROADCAST -> broadcast();
      case REDUCE -> reduce();
      case ALL_TO_ALL -> exchangeBlocks();
    }
  }

  /** After as many rounds as there are other devices, each one has its own part complete. */
  private void reduceParts() {
    for (int round = 1; round < devices; round++) {
      for (int device = 0; device < devices; device++) {
        round(
            device,
            List.of(part(device - round)),
            List.of(part(device - round - 1)),
            collective.reduction());
      }
    }
  }

  private void gatherParts() {
    for (int round = 1; round < devices; round++) {
      for (int device = 0; device < devices; device++) {
        round(
            device,
            List.of(part(device - round + 1)),
            List.of(part(device - round)),
            Combine.REPLACE);
      }
    }
  }

  /** In each round, a device forwards the blocks of one device that have farther destinations. */
  private void exchangeBlocks() {
    for (int round = 1; round < devices; round++) {
      for (int device = 0; device < devices; device++) {
        round(
            device,
            blocks(device - round + 1, round),
            blocks(device - round, round),
            Combine.REPLACE);
      }
    }
  }

  private List<Slice> blocks(int from, int leastDistance) {
    int source = Math.floorMod(from, devices);
    List<Slice> blocks = new ArrayList<>();
    for (int distance = leastDistance; distance < devices; distance++) {
      blocks.add(parts.get(source * devices + (source + distance) % devices));
    }
    return blocks;
  }

  private void round(int device, List<Slice> out, List<Slice> in, Combine combine) {
    int next = (device + 1) % devices;
    int previous = Math.floorMod(device - 1, devices);
    if (buffered || device % 2 == 0) {
      builder.send(device, next, out);
      builder.receive(device, previous, in, combine);
    } else {
      builder.receive(device, previous, in, combine);
      builder.send(device, next, out);
    }
  }

  /**
   * Sends the parts one after the other from the root on, so that devices work on different parts
   * in parallel.
   */
  private void broadcast() {
    for (int position = 0; position < devices; position++) {
      int device = (collective.root() + position) % devices;
      for (Slice part : parts) {
        if (position > 0) {
          builder.receive(
              device, Math.floorMod(device - 1, devices), List.of(part), Combine.REPLACE);
        }
        if (position + 1 < devices) {
          builder.send(device, (device + 1) % devices, List.of(part));
        }
      }
    }
  }

  /** The reverse of {@link #broadcast}. */
  private void reduce() {
    for (int position = 0; position < devices; position++) {
      int device = (collective.root() + position) % devices;
      for (Slice part : parts) {
        if (position + 1 < devices) {
          builder.receive(device, (device + 1) % devices, List.of(part), collective.reduction());
        }
        if (position > 0) {
          builder.send(device, Math.floorMod(device - 1, devices), List.of(part));
        }
      }
    }
  }

  private Slice part(int device) {
    return parts.get(Math.floorMod(device, devices));
  }
}
