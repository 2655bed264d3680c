package io.partita.ir.target;

/**
 * A carrier of one message at a time: one direction of a link, all that a device sends to a switch,
 * or a shared medium.
 *
 * @param number the index of the channel in its topology
 * @param from the sending device, or -1 for a shared medium
 * @param to the receiving device, or -1 for a switch or a shared medium
 */
public record Channel(int number, Link link, int from, int to) {
  public boolean isShared() {
    return from < 0;
  }

  /** Returns text such as {@code mipi 0 -> 4}, or {@code wifi 0} to a switch. */
  public String name() {
    if (isShared()) {
      return link.name();
    }
    return link.name() + " " + from + (to < 0 ? "" : " -> " + to);
  }
}
