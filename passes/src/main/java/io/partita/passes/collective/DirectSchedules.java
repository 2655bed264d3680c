package io.partita.passes.collective;

import java.util.List;

/**
 * Schedules in which each device exchanges with each other one. In round r, devices whose numbers
 * sum to r modulo their count are partners, so that all pairs meet once; the lower number sends
 * first.
 */
final class DirectSchedules {
  private final Collective collective;
  private final int devices;
  private final List<Slice> parts;
  private final ScheduleBuilder builder;

  private DirectSchedules(Collective collective) {
    this.collective = collective;
    this.devices = collective.devices();
    this.parts = collective.slices();
    this.builder = new ScheduleBuilder(collective);
  }

  static Schedule of(Collective collective) {
    DirectSchedules schedules = new DirectSchedules(collective);
    switch (collective.kind()) {
      case ALL_REDUCE -> {
        schedules.rounds(true);
        schedules.rounds(false);
      }
      case REDUCE_SCATTER -> schedules.rounds(true);
      case ALL_GATHER, ALL_TO_ALL -> schedules.rounds(false);
      case BROADCAST, REDUCE -> {
        return TreeSchedules.of(collective, Math.max(2, collective.devices()));
      }
    }
    return schedules.builder.build();
  }

  private void rounds(boolean reducing) {
    Combine combine = reducing ? collective.reduction() : Combine.REPLACE;
    for (int round = 0; round < devices; round++) {
      for (int device = 0; device < devices; device++) {
        int partner = Math.floorMod(round - device, devices);
        if (device < partner) {
          builder.send(device, partner, part(device, partner, reducing));
          builder.receive(device, partner, part(partner, device, reducing), combine);
        } else if (partner < device) {
          builder.receive(device, partner, part(partner, device, reducing), combine);
          builder.send(device, partner, part(device, partner, reducing));
        }
      }
    }
  }

  private List<Slice> part(int from, int to, boolean reducing) {
    if (collective.kind() == CollectiveKind.ALL_TO_ALL) {
      return List.of(parts.get(from * devices + to));
    }
    return List.of(parts.get(reducing ? to : from));
  }
}
