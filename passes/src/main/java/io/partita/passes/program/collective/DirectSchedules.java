package io.partita.passes.program.collective;

import io.partita.ir.function.Combine;
import io.partita.ir.mesh.Algorithm;
import io.partita.ir.message.Slice;
import java.util.List;

/**
 * Schedules in which each device exchanges with each other one. In round r, devices whose numbers
 * add up to r modulo their count are partners, so that each pair meets once; the lower number sends
 * first. If channels hold a message, all devices send in all rounds before they receive.
 */
final class DirectSchedules {
  private final Collective collective;
  private final int devices;
  private final List<Slice> parts;
  private final ScheduleBuilder builder;
  private final boolean buffered;

  private DirectSchedules(Collective collective, boolean buffered) {
    this.buffered = buffered;
    this.collective = collective;
    this.devices = collective.devices();
    this.parts = collective.slices();
    this.builder = new ScheduleBuilder(collective);
  }

  static Schedule of(Collective collective, boolean buffered) {
    DirectSchedules schedules = new DirectSchedules(collective, buffered);
    switch (collective.kind()) {
      case ALL_REDUCE -> {
        schedules.rounds(true);
        schedules.rounds(false);
      }
      case REDUCE_SCATTER -> schedules.rounds(true);
      case ALL_GATHER, ALL_TO_ALL -> schedules.rounds(false);
      case BROADCAST, REDUCE -> {
        Algorithm.Tree star = new Algorithm.Tree(Math.max(2, collective.devices()));
        return TreeSchedules.of(collective, star, buffered);
      }
    }
    return schedules.builder.build();
  }

  private void rounds(boolean reducing) {
    for (int round = 0; round < devices; round++) {
      for (int device = 0; device < devices; device++) {
        int partner = Math.floorMod(round - device, devices);
        if (buffered || device < partner) {
          send(device, partner, reducing);
        }
        if (!buffered) {
          receive(device, partner, reducing);
        }
        if (!buffered && partner < device) {
          send(device, partner, reducing);
        }
      }
    }
    for (int round = 0; buffered && round < devices; round++) {
      for (int device = 0; device < devices; device++) {
        receive(device, Math.floorMod(round - device, devices), reducing);
      }
    }
  }

  private void send(int device, int partner, boolean reducing) {
    if (partner != device) {
      builder.send(device, partner, part(device, partner, reducing));
    }
  }

  private void receive(int device, int partner, boolean reducing) {
    if (partner != device) {
      Combine combine = reducing ? collective.reduction() : Combine.REPLACE;
      builder.receive(device, partner, part(partner, device, reducing), combine);
    }
  }

  private List<Slice> part(int from, int to, boolean reducing) {
    if (collective.kind() == CollectiveKind.ALL_TO_ALL) {
      return List.of(parts.get(from * devices + to));
    }
    return List.of(parts.get(reducing ? to : from));
  }
}
