package io.partita.ir.target;

/**
 * What carries one message at a time: one direction of a link, or a shared medium.
 *
 * @param number counts the channels of a topology from 0
 * @param from the sending device; -1 for a shared medium
 * @param to the receiving device; -1 for a shared medium
 */
public record Channel(int number, Link link, int from, int to) {
  public boolean isShared() {
    return from < 0;
  }

  /** {@code mipi 0 -> 4}. */
  public String name() {
    return isShared() ? link.name() : link.name() + " " + from + " -> " + to;
  }
}
