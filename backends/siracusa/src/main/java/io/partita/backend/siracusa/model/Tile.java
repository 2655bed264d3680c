package io.partita.backend.siracusa.model;

import io.partita.backend.siracusa.model.LoopFunction.BoxCall;
import io.partita.backend.siracusa.model.LoopFunction.Variable;
import java.util.List;
import java.util.Optional;

/**
 * The body of a loop for one tile.
 *
 * @param next the start of the next tile, one further along the innermost axis
 * @param wraps the wrap-around of each axis but the outermost, innermost first
 * @param isEnd the variable that is true for the last tile, if it is used
 * @param pointers tiles in L1
 * @param queued the transfers of tiles that may still be loaded when loads for the next tile start
 * @param actions the actions, in order
 */
public record Tile(
    List<Variable> next,
    List<Wrap> wraps,
    Optional<Variable> isEnd,
    List<Variable> sizes,
    List<Variable> pointers,
    List<Variable> queued,
    List<Piece> actions)
    implements Piece {
  /** At its end, an axis starts over and the one around it takes a step. */
  public record Wrap(String variable, String end, String outer, long tile) {}

  /** Waits until a box has been transferred. */
  public record Wait(String box) implements Piece {}

  /**
   * A call of a kernel.
   *
   * @param member where a chain of calls has its arguments
   * @param struct of its arguments
   */
  public record Call(String member, String struct, String function, List<Variable> arguments) {}

  /**
   * Calls of kernels, which the cores run one after the other.
   *
   * @param chain the function that has several calls
   * @param isScoped whether other calls of the loop can use the stack of their arguments
   * @param awaited the transfers that end before
   * @param loads for the next tile, which go on meanwhile
   * @param preloads whether a preload starts meanwhile, too: with the last tile
   * @param isOnlyTile whether the loop has one tile
   * @param isLeft whether the function ends before the cores do
   */
  public record Run(
      Optional<String> condition,
      Optional<String> chain,
      boolean isScoped,
      List<Call> calls,
      List<String> awaited,
      List<BoxCall> loads,
      boolean preloads,
      boolean isOnlyTile,
      boolean isLeft)
      implements Piece {
    /** What the cores run. */
    public String function() {
      return chain.orElse(calls.getFirst().function());
    }

    /** The struct of its arguments. */
    public String struct() {
      return chain.orElse(calls.getFirst().struct());
    }

    /** Whether the control core has something to do while the cores compute. */
    public boolean hasMeanwhile() {
      return preloads || isLeft || !loads.isEmpty();
    }
  }
}
