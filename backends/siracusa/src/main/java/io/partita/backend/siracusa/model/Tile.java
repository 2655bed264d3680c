package io.partita.backend.siracusa.model;

import io.partita.backend.siracusa.model.LoopFunction.BoxCall;
import io.partita.backend.siracusa.model.LoopFunction.Variable;
import java.util.List;
import java.util.Optional;

/**
 * What is done for one tile.
 *
 * @param next where the next tile begins: one further along the innermost axis
 * @param wraps what happens at the end of each axis but the outermost, innermost first
 * @param isEnd the variable that says that there is no next tile, where it's used
 * @param pointers tiles in L1
 * @param actions in order
 */
public record Tile(
    List<Variable> next,
    List<Wrap> wraps,
    Optional<Variable> isEnd,
    List<Variable> sizes,
    List<Variable> pointers,
    List<Piece> actions)
    implements Piece {
  /** At its end, an axis starts over and the one around it takes a step. */
  public record Wrap(String variable, String end, String outer, long tile) {}

  /** Waits until a box has been moved. */
  public record Wait(String box) implements Piece {}

  /**
   * A kernel's call.
   *
   * @param loads for the next tile, which go on meanwhile
   */
  public record Run(
      Optional<String> condition,
      String struct,
      String variable,
      List<Variable> arguments,
      String function,
      List<BoxCall> loads)
      implements Piece {}
}
