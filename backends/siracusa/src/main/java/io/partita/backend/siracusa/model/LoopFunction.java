package io.partita.backend.siracusa.model;

import java.util.List;
import java.util.Optional;

/**
 * A loop over tiles.
 *
 * @param comment lines
 * @param parameters places of operands in L2
 * @param slots variables that say which slot an operand's tile is in
 * @param first loads of the first tile
 * @param last boxes that are waited for at the end
 */
public record LoopFunction(
    String name,
    List<String> comment,
    List<BoxFunction> boxes,
    List<String> parameters,
    List<Scalar> scalars,
    List<String> slots,
    List<BoxCall> first,
    Piece body,
    List<String> last)
    implements Piece {
  /** An integer that is read from L2 by a function of the runtime. */
  public record Scalar(String name, String function, String place) {}

  /** A variable and its value. */
  public record Variable(String name, String value) {}

  /**
   * A function that starts the load or store of one operand's tile.
   *
   * @param started the function of the runtime
   * @param to the first memory that it's given, from the second: as it takes them
   * @param dimensions all but the last
   */
  public record BoxFunction(
      String name,
      String comment,
      List<String> parameters,
      List<Variable> sizes,
      String started,
      String box,
      String to,
      String from,
      List<Dimension> dimensions,
      String lineBytes) {
    /** The number of {@link #dimensions}, for a template. */
    public int count() {
      return dimensions.size();
    }
  }

  /** In bytes. */
  public record Dimension(String size, String stride) {}

  /**
   * Starts a load or store.
   *
   * @param condition none where it always is
   * @param flip the variable of the slot that comes before, for a load, or after, for a store; none
   *     for one slot
   */
  public record BoxCall(
      Optional<String> condition,
      Optional<String> flip,
      boolean isLoad,
      String function,
      List<String> arguments)
      implements Piece {}
}
