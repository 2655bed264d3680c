package io.partita.ir.schedule;

/**
 * A memory of a chip and how much of it a schedule uses. Sizes are in bytes, and those of one core
 * where each has a memory of its own.
 *
 * @param name as the target calls it
 * @param isPrivate whether each core has one of its own, instead of all cores sharing it
 * @param alignment of what a transfer moves
 * @param used bytes from offset 0 on
 * @param needed the most that is alive at once: what no placement can be below
 * @param available what the target has
 */
public record MemoryUse(
    String name, boolean isPrivate, long alignment, long used, long needed, long available) {
  /** The same memory of which other bytes are used. */
  public MemoryUse with(long used, long needed) {
    return new MemoryUse(name, isPrivate, alignment, used, needed, available);
  }
}
