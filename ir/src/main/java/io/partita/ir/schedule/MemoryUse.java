package io.partita.ir.schedule;

/**
 * A memory of a chip and its use by a schedule. Sizes are in bytes, per core if each core has its
 * own memory.
 *
 * @param name the name in the target
 * @param isPrivate whether each core has its own memory, instead of sharing it
 * @param alignment the alignment of transfers
 * @param used the used bytes from offset 0
 * @param needed the peak live bytes, a lower bound of any placement
 * @param available the size in the target
 */
public record MemoryUse(
    String name, boolean isPrivate, long alignment, long used, long needed, long available) {
  /** Returns the memory with another use. */
  public MemoryUse with(long used, long needed) {
    return new MemoryUse(name, isPrivate, alignment, used, needed, available);
  }
}
