package io.partita.passes.program.collective;

import io.partita.ir.function.Combine;
import io.partita.ir.message.Slice;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;

/**
 * Schedules up a tree, down a tree, or both. Upwards, a device receives from all its children
 * before it sends; downwards, it first sends to the children with the most descendants.
 */
final class TreeSchedules {
  private final Collective collective;
  private final GroupTree tree;
  private final List<Slice> parts;
  private final ScheduleBuilder builder;

  private TreeSchedules(Collective collective, int group) {
    this.collective = collective;
    this.tree = new GroupTree(collective.devices(), group, collective.root());
    this.parts = collective.slices();
    this.builder = new ScheduleBuilder(collective);
  }

  static Schedule of(Collective collective, int group) {
    TreeSchedules schedules = new TreeSchedules(collective, group);
    for (int device = 0; device < collective.devices(); device++) {
      schedules.up(device);
      schedules.down(device);
    }
    return schedules.builder.build();
  }

  private void up(int device) {
    for (int child : tree.children(device)) {
      builder.receive(device, child, rising(child), collective.reduction());
    }
    if (tree.parent(device) >= 0) {
      builder.send(device, tree.parent(device), rising(device));
    }
  }

  private void down(int device) {
    if (tree.parent(device) >= 0) {
      builder.receive(device, tree.parent(device), falling(device), Combine.REPLACE);
    }
    for (int child : tree.children(device).reversed()) {
      builder.send(device, child, falling(child));
    }
  }

  /** Returns the slices that a device sends to its parent. */
  private List<Slice> rising(int device) {
    return switch (collective.kind()) {
      case ALL_REDUCE, REDUCE_SCATTER, REDUCE -> List.of(collective.whole());
      case ALL_GATHER -> parts(tree.subtree(device));
      case BROADCAST -> List.of();
      case ALL_TO_ALL -> blocks(device, true);
    };
  }

  /** Returns the slices that a device receives from its parent. */
  private List<Slice> falling(int device) {
    return switch (collective.kind()) {
      case ALL_REDUCE, BROADCAST -> List.of(collective.whole());
      case REDUCE -> List.of();
      case REDUCE_SCATTER -> parts(tree.subtree(device));
      case ALL_GATHER -> {
        BitSet others = new BitSet();
        others.set(0, collective.devices());
        others.andNot(tree.subtree(device));
        yield parts(others);
      }
      case ALL_TO_ALL -> blocks(device, false);
    };
  }

  private List<Slice> parts(BitSet devices) {
    return devices.stream().mapToObj(parts::get).toList();
  }

  /** Returns the blocks that leave the subtree of a device, or enter it. */
  private List<Slice> blocks(int device, boolean leaving) {
    int devices = collective.devices();
    List<Slice> blocks = new ArrayList<>();
    for (int from = 0; from < devices; from++) {
      for (int to = 0; to < devices; to++) {
        boolean starts = tree.isBelow(from, device);
        boolean ends = tree.isBelow(to, device);
        if (starts != ends && starts == leaving) {
          blocks.add(parts.get(from * devices + to));
        }
      }
    }
    return blocks;
  }
}
