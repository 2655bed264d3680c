package io.partita.passes.timing;

/**
 * A resource that serves one event at a time.
 *
 * @param name such as {@code chip 3 cores} or {@code mipi 4 -> 0}
 * @param kind the name under which its time is reported
 * @param device the device that has it; -1 for a link
 * @param watts its power while it is busy
 * @param joulesPerByte the energy of each byte that it moves
 */
public record Resource(String name, Kind kind, int device, double watts, double joulesPerByte) {
  /**
   * The name under which time is reported: {@code compute}, the farther of two memories, or {@code
   * links}.
   */
  public record Kind(String text) {
    public static final Kind COMPUTE = new Kind("compute");
    public static final Kind LINKS = new Kind("links");
  }
}
