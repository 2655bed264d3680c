package io.partita.backend.siracusa.model;

import java.util.List;

/**
 * The makefile.
 *
 * @param name the model's name, for a comment
 * @param l1Bytes the bytes of L1 that the program uses; likewise the other memories
 * @param roles names of the roles' files without extension
 * @param runtime the runtime's sources, except ports, without extension
 * @param kernels likewise the sources that don't depend on memory sizes
 */
public record Makefile(
    String name,
    int cores,
    long l1Bytes,
    long l2Bytes,
    long l3Bytes,
    List<String> roles,
    List<Chip> chips,
    List<String> runtime,
    List<String> kernels)
    implements Piece {
  /**
   * @param own whether it has its own file of messages
   */
  public record Chip(int number, String role, boolean own) {}

  /** The number of chips, for the template. */
  public int count() {
    return chips.size();
  }
}
