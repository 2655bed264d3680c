package io.partita.ir.mesh;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The communication pattern of a collective. */
public sealed interface Algorithm {
  /**
   * A tree of groups of {@code group} devices: members send to the first of their group, these
   * again in groups up to one device, and the results return the same way. Section IV of the MCU
   * paper uses groups of 4.
   *
   * <p>Order of summation: a device adds what it receives to its own value, by level and, within a
   * group, by device number: {@code ((x0 + x1) + x2) + x3} and then, one level up, {@code … +
   * x4567}. In a reduce-scatter, each part is summed towards the device that keeps it: that device,
   * and each one on the way to it, adds sums from below before the one from above.
   *
   * @param pieces a vector travels in so many pieces, one after the other, so that a link carries
   *     one piece while the next link carries the piece before; results don't depend on it
   */
  record Tree(int group, int pieces) implements Algorithm {
    private static final Pattern TEXT =
        Pattern.compile("tree\\(([0-9]{1,4})(?:, pieces=([0-9]{1,4}))?\\)");

    public Tree {
      if (group < 2 || pieces < 1) {
        throw new IllegalArgumentException("groups of " + group + ", " + pieces + " pieces");
      }
    }

    /** A tree of whole messages. */
    public Tree(int group) {
      this(group, 1);
    }

    /** The number of levels: 2 for 8 devices in groups of 4. */
    public int levels(int devices) {
      int levels = 0;
      for (long size = 1; size < devices; size *= group) {
        levels++;
      }
      return levels;
    }

    @Override
    public String toString() {
      return "tree(" + group + (pieces == 1 ? ")" : ", pieces=" + pieces + ")");
    }
  }

  /**
   * Each device sends only to the next one, the last to the first.
   *
   * <p>Order of summation: part p of n starts at device p + 1, and each device adds what it
   * receives to its own value: {@code x[p] + (x[p-1] + (… + (x[p+2] + x[p+1])))}, with indices
   * modulo n. A reduction to a root computes {@code x[root] + (x[root+1] + (x[root+2] + …))}.
   */
  record Ring() implements Algorithm {
    @Override
    public String toString() {
      return "ring";
    }
  }

  /**
   * Each device sends to every other one; with a root, it is a tree of one group.
   *
   * <p>Order of summation: the owner d of a part adds the values of devices {@code -d, 1-d, 2-d, …}
   * modulo n to its own, in this order.
   */
  record Direct() implements Algorithm {
    @Override
    public String toString() {
      return "direct";
    }
  }

  /**
   * As {@link Direct} within groups of devices, then among the devices of the same place in several
   * groups, and so on; to gather, in the reverse order. So fewer messages travel between groups,
   * and of fewer bytes. A broadcast or a reduction to a root is that of a {@link Tree}, and an
   * all-to-all is direct.
   *
   * <p>Order of summation: at each level, as {@link Direct} with the places of devices in their
   * group in place of their numbers.
   *
   * @param group the largest group; groups are smaller where that divides the number of devices, or
   *     larger if nothing does
   */
  record Hierarchical(int group) implements Algorithm {
    private static final Pattern TEXT = Pattern.compile("hierarchical\\(([0-9]{1,4})\\)");

    public Hierarchical {
      if (group < 2) {
        throw new IllegalArgumentException("groups of " + group);
      }
    }

    /** Returns the size of groups at each level, whose product is the number of devices. */
    public List<Integer> groups(int devices) {
      List<Integer> groups = new ArrayList<>();
      int left = devices;
      while (left > 1) {
        int size = Math.min(group, left);
        while (size > 1 && left % size != 0) {
          size--;
        }
        size = size == 1 ? left : size;
        groups.add(size);
        left /= size;
      }
      return groups;
    }

    @Override
    public String toString() {
      return "hierarchical(" + group + ")";
    }
  }

  /**
   * Reads what {@code toString} writes.
   *
   * @throws io.partita.ir.diagnostic.PartitaException with {@link MeshCode#LAYOUT_TEXT}
   */
  static Algorithm parse(String text) {
    if (text.equals("ring")) {
      return new Ring();
    } else if (text.equals("direct")) {
      return new Direct();
    }
    Matcher tree = Tree.TEXT.matcher(text);
    if (tree.matches()) {
      int group = Integer.parseInt(tree.group(1));
      int pieces = tree.group(2) == null ? 1 : Integer.parseInt(tree.group(2));
      if (group >= 2 && pieces >= 1) {
        return new Tree(group, pieces);
      }
    }
    Matcher hierarchical = Hierarchical.TEXT.matcher(text);
    if (hierarchical.matches() && Integer.parseInt(hierarchical.group(1)) >= 2) {
      return new Hierarchical(Integer.parseInt(hierarchical.group(1)));
    }
    throw MeshCode.LAYOUT_TEXT.at(
        "algorithm",
        "tree(2) or more, tree(2, pieces=2) or more, hierarchical(2) or more, ring or direct",
        text,
        "");
  }
}
