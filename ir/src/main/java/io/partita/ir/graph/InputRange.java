package io.partita.ir.graph;

/**
 * The integers that an input may hold, such as the ids of a vocabulary or the positions of a cache.
 * A program that is given another one refuses it before it computes anything.
 *
 * @param input name of the graph input
 * @param least the smallest value it may hold
 * @param most the largest value it may hold
 */
public record InputRange(String input, long least, long most) {
  @Override
  public String toString() {
    return least + " to " + most;
  }
}
