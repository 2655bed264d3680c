package io.partita.passes.timing;

/**
 * What does one thing at a time.
 *
 * @param name such as {@code chip 3 cores} or {@code mipi 4 -> 0}
 * @param kind what its time is reported as
 * @param device whose it is; -1 for a link
 * @param watts while it's busy
 * @param joulesPerByte that it moves
 */
public record Resource(String name, Kind kind, int device, double watts, double joulesPerByte) {
  /**
   * What time is reported as: {@code compute}, the name of the farther of two memories, or {@code
   * links}.
   */
  public record Kind(String text) {
    public static final Kind COMPUTE = new Kind("compute");
    public static final Kind LINKS = new Kind("links");
  }
}
