package io.partita.ir.mesh;

/** By which ways the elements of a collective travel. */
public sealed interface Algorithm {
  /**
   * In groups of {@code group}: the members send to the first of the group, the firsts again in
   * groups, up to one device, and the same way back. The MCU paper's section IV, with groups of 4.
   *
   * <p>Sums: a device adds to its own what it receives, in the order of levels and, in a group, of
   * device numbers: {@code ((x0 + x1) + x2) + x3} and then, one level up, {@code … + x4567}.
   */
  record Tree(int group) implements Algorithm {
    public Tree {
      if (group < 2) {
        throw new IllegalArgumentException("groups of " + group);
      }
    }

    /** How many times groups are formed: 2 for 8 devices in groups of 4. */
    public int levels(int devices) {
      int levels = 0;
      for (long size = 1; size < devices; size *= group) {
        levels++;
      }
      return levels;
    }

    @Override
    public String toString() {
      return "tree(" + group + ")";
    }
  }

  /**
   * Each device sends to the next only, the last to the first.
   *
   * <p>Sums: part p of n starts at device p + 1, and each device adds what it receives to its own:
   * {@code x[p] + (x[p-1] + (… + (x[p+2] + x[p+1])))}, numbers modulo n. A reduce to a root takes
   * the way {@code x[root] + (x[root+1] + (x[root+2] + …))}.
   */
  record Ring() implements Algorithm {
    @Override
    public String toString() {
      return "ring";
    }
  }

  /**
   * Each device sends to each other one; to and from a root, as a tree in one group.
   *
   * <p>Sums: the owner d of a part adds to its own those of devices {@code -d, 1-d, 2-d, …} modulo
   * n, in this order.
   */
  record Direct() implements Algorithm {
    @Override
    public String toString() {
      return "direct";
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
    } else if (text.matches("tree\\([0-9]{1,4}\\)")) {
      int group = Integer.parseInt(text.substring(5, text.length() - 1));
      if (group >= 2) {
        return new Tree(group);
      }
    }
    throw MeshCode.LAYOUT_TEXT.at("algorithm", "tree(2) or more, ring or direct", text, "");
  }
}
