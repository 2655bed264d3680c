package io.partita.passes.program.collective;

import io.partita.ir.function.Combine;
import io.partita.ir.mesh.Algorithm;
import io.partita.ir.message.Slice;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;

/**
 * Schedules up a tree, down a tree, or both. Upwards, a device receives from all its children
 * before it sends; downwards, it first sends to the children with the most descendants.
 *
 * <p>Each piece of the vector goes up and down by itself, except in a reduce-scatter ({@link
 * ScatterTree}) and in a gather of as many pieces as devices ({@link GatherTree}). In each round, a
 * device passes one piece up and an earlier one down: pieces move one hop a round, so a piece is
 * back after two rounds for each hop to the root. If channels hold no message, both ends of a
 * channel must agree on the order of its messages, so all devices are as far behind as the
 * farthest.
 */
final class TreeSchedules {
  private final Collective collective;
  private final GroupTree tree;
  private final List<Slice> whole;
  private final List<Slice> parts;
  private final List<Slice> pieces;
  private final ScheduleBuilder builder;
  private final boolean buffered;

  private TreeSchedules(Collective collective, Algorithm.Tree algorithm, boolean buffered) {
    this.collective = collective;
    this.tree = new GroupTree(collective.devices(), algorithm.group(), collective.root());
    this.whole = List.of(collective.whole());
    this.parts = collective.slices();
    this.pieces = pieces(collective.elements(), algorithm.pieces());
    this.builder = new ScheduleBuilder(collective);
    this.buffered = buffered;
  }

  static Schedule of(Collective collective, Algorithm.Tree algorithm, boolean buffered) {
    TreeSchedules schedules = new TreeSchedules(collective, algorithm, buffered);
    if (collective.kind() == CollectiveKind.ALL_GATHER
        && algorithm.pieces() >= Math.max(2, collective.devices())) {
      return GatherTree.of(collective, schedules.tree, algorithm.pieces(), buffered);
    }
    if (collective.kind() == CollectiveKind.REDUCE_SCATTER) {
      return ScatterTree.of(collective, schedules.tree, schedules.pieces, buffered);
    }
    for (int device = 0; device < collective.devices(); device++) {
      schedules.rounds(device);
    }
    return schedules.builder.build();
  }

  /** Returns pieces that are as even as possible, none empty. */
  private static List<Slice> pieces(long elements, int most) {
    long count = Math.min(most, elements);
    List<Slice> pieces = new ArrayList<>();
    for (long piece = 0; piece < count; piece++) {
      long start = piece * elements / count;
      pieces.add(new Slice(start, (piece + 1) * elements / count - start));
    }
    return pieces;
  }

  private void rounds(int device) {
    int behind = behind(device);
    for (int round = 0; round < pieces.size() + behind; round++) {
      if (round < pieces.size()) {
        up(device, pieces.get(round));
      }
      if (round >= behind) {
        down(device, pieces.get(round - behind));
      }
    }
  }

  /** Returns the rounds from a piece's way up to its way down. */
  private int behind(int device) {
    return 2 * (buffered ? tree.depth(device) : tree.height(tree.root()));
  }

  private void up(int device, Slice piece) {
    for (int child : tree.children(device)) {
      builder.receive(device, child, within(piece, rising(child)), collective.reduction());
    }
    if (tree.parent(device) >= 0) {
      builder.send(device, tree.parent(device), within(piece, rising(device)));
    }
  }

  private void down(int device, Slice piece) {
    if (tree.parent(device) >= 0) {
      builder.receive(device, tree.parent(device), within(piece, falling(device)), Combine.REPLACE);
    }
    for (int child : tree.children(device).reversed()) {
      builder.send(device, child, within(piece, falling(child)));
    }
  }

  private static List<Slice> within(Slice piece, List<Slice> slices) {
    return slices.stream().map(piece::intersection).toList();
  }

  /** Returns the slices that a device sends to its parent. */
  private List<Slice> rising(int device) {
    return switch (collective.kind()) {
      case ALL_REDUCE, REDUCE -> whole;
      case REDUCE_SCATTER -> throw new AssertionError(collective);
      case ALL_GATHER -> parts(tree.subtree(device));
      case BROADCAST -> List.of();
      case ALL_TO_ALL -> blocks(device, true);
    };
  }

  /** Returns the slices that a device receives from its parent. */
  private List<Slice> falling(int device) {
    return switch (collective.kind()) {
      case ALL_REDUCE, BROADCAST -> whole;
      case REDUCE -> List.of();
      case REDUCE_SCATTER -> throw new AssertionError(collective);
      case ALL_GATHER -> parts(tree.outside(device));
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
