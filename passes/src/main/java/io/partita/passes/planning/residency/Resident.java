package io.partita.passes.planning.residency;

/**
 * One thing that takes room.
 *
 * @param name of the value that it is
 */
public record Resident(String name, Content content, long bytes) {
  /** {@code model.embed.weight, weights (16384000 B)}. */
  @Override
  public String toString() {
    return name + ", " + content.text() + " (" + bytes + " B)";
  }
}
