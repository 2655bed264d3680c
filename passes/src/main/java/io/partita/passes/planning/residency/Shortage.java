package io.partita.passes.planning.residency;

import io.partita.ir.diagnostic.Diagnostic;
import java.util.List;
import java.util.stream.Collectors;

/**
 * A memory that is too small.
 *
 * @param device the first device with the shortage
 * @param memory the name of the memory
 * @param what the content that needs the room
 * @param needed the needed bytes, with as much as possible in other memories
 * @param available the available bytes
 * @param biggest the largest residents, in descending order
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

  /** Returns the diagnostic {@link ResidencyCode#DOES_NOT_FIT}. */
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
