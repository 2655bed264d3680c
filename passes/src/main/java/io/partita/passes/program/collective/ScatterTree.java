package io.partita.passes.program.collective;

import io.partita.ir.message.Slice;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Comparator;
import java.util.List;

/**
 * Schedules of a reduce-scatter on a tree. Each part of the vector is summed towards the device
 * that keeps it: upwards in the subtrees that don't contain this device, then downwards. So a link
 * carries each part once, in one direction, and both directions are used at the same time.
 *
 * <p>The vector goes in pieces. A device receives a piece from all sides but one, and sends it to
 * that side. It takes pieces in the order of its parent. But if channels hold a message, it takes a
 * piece that comes from there as late as possible, so that it rarely waits for it: in the round in
 * which the parent sends the next such piece, or one later below the root, after the piece that it
 * sends itself. Farther down, that could end in a cycle of devices that wait for each other.
 */
final class ScatterTree {
  private final Collective collective;
  private final GroupTree tree;
  private final List<Slice> parts;
  private final ScheduleBuilder builder;
  private final boolean buffered;

  /**
   * A piece that a device receives and sends.
   *
   * @param rises whether it is sent to the parent, and not received from there
   */
  private record Turn(int round, List<Slice> slices, boolean rises) {}

  private ScatterTree(Collective collective, GroupTree tree, boolean buffered) {
    this.collective = collective;
    this.tree = tree;
    this.parts = collective.slices();
    this.builder = new ScheduleBuilder(collective);
    this.buffered = buffered;
  }

  /**
   * @param pieces of the vector, in order
   * @param buffered whether channels hold a message
   */
  static Schedule of(Collective collective, GroupTree tree, List<Slice> pieces, boolean buffered) {
    ScatterTree scatter = new ScatterTree(collective, tree, buffered);
    List<Turn> turns = new ArrayList<>();
    for (Slice piece : scatter.inTurn(pieces)) {
      turns.add(new Turn(turns.size(), List.of(piece), false));
    }
    scatter.take(tree.root(), turns);
    return scatter.builder.build();
  }

  private void take(int device, List<Turn> turns) {
    for (Turn turn : turns) {
      for (int child : tree.children(device)) {
        List<Slice> rising = within(turn.slices(), tree.outside(child));
        builder.receive(device, child, rising, collective.reduction());
      }
      if (turn.rises()) {
        builder.send(device, tree.parent(device), turn.slices());
        continue;
      }
      if (device != tree.root()) {
        builder.receive(device, tree.parent(device), turn.slices(), collective.reduction());
      }
      for (int child : tree.children(device).reversed()) {
        builder.send(device, child, within(turn.slices(), tree.subtree(child)));
      }
    }
    for (int child : tree.children(device)) {
      take(child, ofChild(child, turns));
    }
  }

  private List<Turn> ofChild(int child, List<Turn> turns) {
    List<Turn> rising = new ArrayList<>();
    List<Turn> falling = new ArrayList<>();
    for (Turn turn : turns) {
      add(rising, new Turn(turn.round(), within(turn.slices(), tree.outside(child)), true));
      add(falling, new Turn(turn.round(), within(turn.slices(), tree.subtree(child)), false));
    }
    List<Turn> own = new ArrayList<>(rising);
    int later = tree.parent(child) == tree.root() ? 1 : 0;
    for (int i = 0; i < falling.size(); i++) {
      Turn turn = falling.get(i);
      int next =
          i + 1 < falling.size() ? falling.get(i + 1).round() + later : turns.getLast().round() + 1;
      own.add(new Turn(buffered ? next : turn.round(), turn.slices(), false));
    }
    own.sort(Comparator.comparingInt(Turn::round));
    return own;
  }

  private static void add(List<Turn> turns, Turn turn) {
    if (!turn.slices().isEmpty()) {
      turns.add(turn);
    }
  }

  /** Returns what devices keep of slices. */
  private List<Slice> within(List<Slice> slices, BitSet keepers) {
    return slices.stream()
        .flatMap(slice -> keepers.stream().mapToObj(parts::get).map(slice::intersection))
        .filter(each -> each.size() > 0)
        .toList();
  }

  /** Returns pieces in an order in which all links are used evenly. */
  private List<Slice> inTurn(List<Slice> pieces) {
    List<List<Slice>> byKeeper = new ArrayList<>();
    for (int device = 0; device < collective.devices(); device++) {
      byKeeper.add(new ArrayList<>());
    }
    int keeper = 0;
    for (Slice piece : pieces) {
      while (parts.get(keeper).end() <= piece.start()) {
        keeper++;
      }
      byKeeper.get(keeper).add(piece);
    }
    return inTurn(tree.root(), byKeeper);
  }

  /** Takes pieces in turn from children with descendants, and from all others with the device. */
  private List<Slice> inTurn(int device, List<List<Slice>> byKeeper) {
    List<List<Slice>> lists = new ArrayList<>();
    List<List<Slice>> group = new ArrayList<>();
    for (int child : tree.children(device).reversed()) {
      if (tree.children(child).isEmpty()) {
        group.add(byKeeper.get(child));
      } else {
        lists.add(inTurn(child, byKeeper));
      }
    }
    group.add(byKeeper.get(device));
    lists.add(merged(group));
    return merged(lists);
  }

  /** Merges lists of any lengths, each of them evenly. */
  private static List<Slice> merged(List<List<Slice>> lists) {
    record Placed(double place, Slice piece) {}
    List<Placed> all = new ArrayList<>();
    for (List<Slice> list : lists) {
      for (int i = 0; i < list.size(); i++) {
        all.add(new Placed((i + 0.5) / list.size(), list.get(i)));
      }
    }
    all.sort(Comparator.comparingDouble(Placed::place));
    return all.stream().map(Placed::piece).toList();
  }
}
