package io.partita.ir.schedule;

/**
 * Where something begins.
 *
 * @param memory its number in {@link ChipSchedule#memories}
 * @param offset in bytes
 */
public record Address(int memory, long offset) {
  /** In the memory where whole tensors lie. */
  public static Address home(long offset) {
    return new Address(ChipSchedule.HOME, offset);
  }

  public boolean isHome() {
    return memory == ChipSchedule.HOME;
  }
}
