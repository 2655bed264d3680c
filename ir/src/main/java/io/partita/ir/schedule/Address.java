package io.partita.ir.schedule;

/**
 * An address in a memory of a chip.
 *
 * @param memory the number of the memory in {@link ChipSchedule#memories}
 * @param offset the offset in bytes
 */
public record Address(int memory, long offset) {
  /** Returns an address in the home memory. */
  public static Address home(long offset) {
    return new Address(ChipSchedule.HOME, offset);
  }

  public boolean isHome() {
    return memory == ChipSchedule.HOME;
  }
}
