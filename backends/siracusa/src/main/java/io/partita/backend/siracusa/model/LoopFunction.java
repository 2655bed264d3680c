package io.partita.backend.siracusa.model;

import java.util.List;
import java.util.Optional;

/**
 * A loop over tiles.
 *
 * @param comment lines
 * @param kernels the kernels that only this loop uses
 * @param chains what the cores run at once
 * @param parameters addresses of operands in L2
 * @param slots variables that select the slot of an operand's tile
 * @param first loads of the first tile
 * @param last transfers that are awaited at the end
 */
public record LoopFunction(
    String name,
    List<String> comment,
    List<BoxFunction> boxes,
    List<ElementFunction> kernels,
    List<Chain> chains,
    List<String> parameters,
    List<Scalar> scalars,
    List<String> slots,
    List<BoxCall> first,
    Piece body,
    List<String> last)
    implements Piece {
  /** An integer that a function of the runtime reads from L2. */
  public record Scalar(String name, String function, String place) {}

  /** A function that calls several kernels one after the other. */
  public record Chain(String name, List<Tile.Call> calls) {}

  /** A variable and its value. */
  public record Variable(String name, String value) {}

  /**
   * A function that starts the load or store of one operand's tile.
   *
   * @param condition without which there is nothing to transfer; none if there always is
   * @param started the runtime function that starts the transfer
   * @param to its first memory argument; {@code from} is the second
   * @param dimensions all dimensions but the last
   */
  public record BoxFunction(
      String name,
      String comment,
      List<String> parameters,
      List<Variable> sizes,
      Optional<String> condition,
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

    /** Whether {@link #started} takes lines with one stride. */
    public boolean lines() {
      return started.endsWith("_lines");
    }

    /** Whether {@link #started} takes planes of lines. */
    public boolean planes() {
      return started.endsWith("_planes");
    }
  }

  /** A size and its stride, in bytes. */
  public record Dimension(String size, String stride) {
    /** {@link #size} as an unsigned number. */
    public String count() {
      return unsigned(size);
    }

    /** {@link #stride} as an unsigned number. */
    public String step() {
      return unsigned(stride);
    }

    private static String unsigned(String expression) {
      return expression.matches("[0-9]+") ? expression : "(uint32_t)(" + expression + ")";
    }
  }

  /**
   * Starts a load or store.
   *
   * @param condition none if unconditional
   * @param flip the slot variable, which flips before a load and after a store; none for one slot
   */
  public record BoxCall(
      Optional<String> condition,
      Optional<String> flip,
      boolean isLoad,
      String function,
      List<String> arguments)
      implements Piece {}
}
