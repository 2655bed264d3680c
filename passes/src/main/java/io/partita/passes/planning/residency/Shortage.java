package io.partita.passes.planning.residency;

import io.partita.ir.diagnostic.Diagnostic;
import java.util.List;
import java.util.stream.Collectors;

/**
 * A memory that can't hold what it must.
 *
 * @param device the first device that it's short on
 * @param memory which of its memories
 * @param what needs the room
 * @param needed in bytes, when as much as possible is elsewhere
 * @param available in bytes
 * @param biggest what takes most, the largest first
 */
public record Shortage(
    int device,
    String chip,
    String memory,
    String what,
    long needed,
    long available,
    List<Resident> biggest) {
  public Shortage {
    biggest = List.copyOf(biggest);
  }

  /** With {@link ResidencyCode#DOES_NOT_FIT}. */
  public Diagnostic diagnostic(String remedy) {
    String most =
        biggest.isEmpty()
            ? ""
            : "; most is "
                + biggest.stream().map(Resident::toString).collect(Collectors.joining("; "));
    return new Diagnostic(
        ResidencyCode.DOES_NOT_FIT,
        "device " + device + " (" + chip + "), memory " + memory,
        "at most " + available + " B",
        needed + " B for " + what + most,
        remedy);
  }
}
