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
 * @param team when the kernel that the team runs is awaited
 */
public record StepCall(
    Optional<String> comment,
    String function,
    List<String> arguments,
    Optional<String> region,
    Optional<String> holds,
    Team team)
    implements Piece {
  /**
   * @param isAwaitedBefore whether the kernel that a loop before has left running is awaited first
   * @param isAwaitedAfter whether its own kernel is awaited, which its function leaves running
   */
  public record Team(boolean isAwaitedBefore, boolean isAwaitedAfter) {
    static final Team NONE = new Team(false, false);
  }

  /** Returns a call that always runs. */
  public static StepCall of(Optional<String> comment, String function, List<String> arguments) {
    return new StepCall(
        comment, function, arguments, Optional.empty(), Optional.empty(), Team.NONE);
  }

  /** Returns the reading of a region's conditions into a flag. */
  public static StepCall flag(Optional<String> comment, String holds, String region) {
    return new StepCall(comment, "", List.of(), Optional.of(region), Optional.of(holds), Team.NONE);
  }

  /** Returns the call in a guarded region. */
  public StepCall in(String flag) {
    return new StepCall(comment, function, arguments, Optional.of(flag), holds, team);
  }

  /** Returns the call with the times at which the team is awaited. */
  public StepCall with(Team awaited) {
    return new StepCall(comment, function, arguments, region, holds, awaited);
  }
}
