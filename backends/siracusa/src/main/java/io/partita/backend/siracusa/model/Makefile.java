package io.partita.backend.siracusa.model;

import java.util.List;

/**
 * How it's built.
 *
 * @param name of the model, for a comment
 * @param l1Bytes and the other memories': how much the program uses
 * @param roles names of the roles' files without extension
 * @param runtime the runtime's sources, but for ports, without extension
 * @param kernels likewise those that depend on no size
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
   * @param own whether it has a file of its own, with its messages
   */
  public record Chip(int number, String role, boolean own) {}

  /** How many chips there are, for a template. */
  public int count() {
    return chips.size();
  }
}
