package io.partita.passes.program.collective;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;

/**
 * A tree of groups of consecutive devices, groups of groups, and so on. The head of a group is the
 * root if the group contains it, and otherwise its first device.
 */
final class GroupTree {
  private final int root;
  private final int[] parents;

  /**
   * The children of each device in the order in which it receives from them: the lowest level
   * first.
   */
  private final List<List<Integer>> children = new ArrayList<>();

  private final List<BitSet> subtrees = new ArrayList<>();

  GroupTree(int devices, int group, int root) {
    this.root = root;
    parents = new int[devices];
    for (int device = 0; device < devices; device++) {
      parents[device] = -1;
      children.add(new ArrayList<>());
      subtrees.add(new BitSet());
      subtrees.get(device).set(device);
    }
    for (long size = 1; size < devices; size *= group) {
      for (long first = 0; first < devices; first += size * group) {
        int head = head(first, size * group);
        for (long part = first; part < Math.min(devices, first + size * group); part += size) {
          join(head(part, size), head);
        }
      }
    }
  }

  private int head(long first, long size) {
    return root >= first && root < first + size ? root : (int) first;
  }

  private void join(int device, int head) {
    if (device != head) {
      parents[device] = head;
      children.get(head).add(device);
      subtrees.get(head).or(subtrees.get(device));
    }
  }

  /** Returns the parent of a device, or -1 for the root. */
  int parent(int device) {
    return parents[device];
  }

  int root() {
    return root;
  }

  /** Returns the number of hops from a device to the root. */
  int depth(int device) {
    return parents[device] < 0 ? 0 : 1 + depth(parents[device]);
  }

  /** Returns the number of hops to a device from the farthest of its descendants. */
  int height(int device) {
    return children.get(device).stream().mapToInt(child -> 1 + height(child)).max().orElse(0);
  }

  List<Integer> children(int device) {
    return children.get(device);
  }

  boolean isBelow(int device, int head) {
    return subtrees.get(head).get(device);
  }

  /** Returns a device and its descendants. */
  BitSet subtree(int device) {
    return subtrees.get(device);
  }

  /** Returns all other devices. */
  BitSet outside(int device) {
    BitSet others = new BitSet();
    others.set(0, parents.length);
    others.andNot(subtree(device));
    return others;
  }
}
