package io.partita.passes.planning.residency;

/**
 * A value in a memory.
 *
 * @param name the name of the value
 */
public record Resident(String name, Content content, long bytes) {
  /** {@code model.embed.weight, weights (16384000 B)}. */
  @Override
  public String toString() {
    return name + ", " + content.text() + " (" + bytes + " B)";
  }
}
