package io.partita.passes.program.collective;

import io.partita.ir.function.Combine;
import io.partita.ir.mesh.Algorithm;
import io.partita.ir.message.Slice;
import java.util.ArrayList;
import java.util.List;

/**
 * Schedules in which each device exchanges with each other one of its group, level by level.
 * Devices of a group at one level have the same place at all others; with a single level, all
 * devices are a group. In round r, devices whose places add up to r modulo the size of the group
 * are partners, so that each pair meets once; the lower one sends first. If channels hold a
 * message, all devices send in all rounds before they receive.
 */
final class DirectSchedules {
  private final Collective collective;
  private final int devices;
  private final List<Integer> groups;
  private final List<Slice> parts;
  private final ScheduleBuilder builder;
  private final boolean buffered;

  private DirectSchedules(Collective collective, List<Integer> groups, boolean buffered) {
    this.buffered = buffered;
    this.collective = collective;
    this.devices = collective.devices();
    this.groups = groups;
    this.parts = collective.slices();
    this.builder = new ScheduleBuilder(collective);
  }

  /** Returns the schedule in which each device exchanges with each other one. */
  static Schedule of(Collective collective, boolean buffered) {
    int devices = collective.devices();
    Algorithm.Tree star = new Algorithm.Tree(Math.max(2, devices));
    return of(collective, List.of(devices), star, buffered);
  }

  static Schedule of(Collective collective, Algorithm.Hierarchical by, boolean buffered) {
    Algorithm.Tree tree = new Algorithm.Tree(by.group());
    return collective.kind() == CollectiveKind.ALL_TO_ALL
        ? of(collective, buffered)
        : of(collective, by.groups(collective.devices()), tree, buffered);
  }

  private static Schedule of(
      Collective collective, List<Integer> groups, Algorithm.Tree rooted, boolean buffered) {
    DirectSchedules schedules = new DirectSchedules(collective, groups, buffered);
    switch (collective.kind()) {
      case ALL_REDUCE -> {
        schedules.reduce();
        schedules.gather();
      }
      case REDUCE_SCATTER -> schedules.reduce();
      case ALL_GATHER, ALL_TO_ALL -> schedules.gather();
      case BROADCAST, REDUCE -> {
        return TreeSchedules.of(collective, rooted, buffered);
      }
    }
    return schedules.builder.build();
  }

  private void reduce() {
    int stride = 1;
    for (int size : groups) {
      rounds(stride, size, true);
      stride *= size;
    }
  }

  private void gather() {
    int stride = devices;
    for (int size : groups.reversed()) {
      stride /= size;
      rounds(stride, size, false);
    }
  }

  /**
   * The rounds of a level.
   *
   * @param stride from one device of a group to the next
   */
  private void rounds(int stride, int size, boolean reducing) {
    int same = stride * size;
    for (int round = 0; round < size; round++) {
      for (int device = 0; device < devices; device++) {
        int partner = partner(device, round, stride, size);
        if (buffered || device < partner) {
          send(device, partner, same, reducing);
        }
        if (!buffered) {
          receive(device, partner, same, reducing);
        }
        if (!buffered && partner < device) {
          send(device, partner, same, reducing);
        }
      }
    }
    for (int round = 0; buffered && round < size; round++) {
      for (int device = 0; device < devices; device++) {
        receive(device, partner(device, round, stride, size), same, reducing);
      }
    }
  }

  private static int partner(int device, int round, int stride, int size) {
    int place = device / stride % size;
    return device + (Math.floorMod(round - place, size) - place) * stride;
  }

  private void send(int device, int partner, int same, boolean reducing) {
    if (partner != device) {
      builder.send(device, partner, parts(device, partner, same, reducing));
    }
  }

  private void receive(int device, int partner, int same, boolean reducing) {
    if (partner != device) {
      Combine combine = reducing ? collective.reduction() : Combine.REPLACE;
      builder.receive(device, partner, parts(partner, device, same, reducing), combine);
    }
  }

  /** Returns the parts of all devices that are the same modulo {@code same} as one of the two. */
  private List<Slice> parts(int from, int to, int same, boolean reducing) {
    if (collective.kind() == CollectiveKind.ALL_TO_ALL) {
      return List.of(parts.get(from * devices + to));
    }
    List<Integer> places = new ArrayList<>();
    for (int device = (reducing ? to : from) % same; device < devices; device += same) {
      places.add(place(device));
    }
    return places.stream().sorted().map(parts::get).toList();
  }

  /**
   * Returns which part a device reduces. If all devices have the whole vector before and after, any
   * one may be chosen: then what it exchanges at a level is a single slice.
   */
  private int place(int device) {
    if (collective.kind() != CollectiveKind.ALL_REDUCE) {
      return device;
    }
    int place = 0;
    int stride = 1;
    for (int size : groups) {
      place = place * size + device / stride % size;
      stride *= size;
    }
    return place;
  }
}
