package io.partita.ir.graph;

/**
 * The valid integers of an input, such as the ids of a vocabulary or the positions of a cache. A
 * program refuses any other value before it computes anything.
 *
 * @param input name of the graph input
 * @param least the smallest valid value
 * @param most the largest valid value
 */
public record InputRange(String input, long least, long most) {
  @Override
  public String toString() {
    return least + " to " + most;
  }
}
