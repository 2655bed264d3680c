package io.partita.backend.siracusa.model;

import java.util.List;
import java.util.Optional;

/**
 * One step of a chip's program: a call, or the reading of a guarded region's conditions.
 *
 * @param comment the step's node, unless the previous step has the same
 * @param function the function to call; unused if {@code holds} is present
 * @param region the flag of the guarded region that the step begins, or in which it is
 * @param holds the expression that tells whether the region runs; empty for a call
 */
public record StepCall(
    Optional<String> comment,
    String function,
    List<String> arguments,
    Optional<String> region,
    Optional<String> holds)
    implements Piece {
  /** Returns a call that always runs. */
  public static StepCall of(Optional<String> comment, String function, List<String> arguments) {
    return new StepCall(comment, function, arguments, Optional.empty(), Optional.empty());
  }

  /** Returns the reading of a region's conditions into a flag. */
  public static StepCall flag(Optional<String> comment, String holds, String region) {
    return new StepCall(comment, "", List.of(), Optional.of(region), Optional.of(holds));
  }

  /** Returns the call in a guarded region. */
  public StepCall in(String flag) {
    return new StepCall(comment, function, arguments, Optional.of(flag), holds);
  }
}
