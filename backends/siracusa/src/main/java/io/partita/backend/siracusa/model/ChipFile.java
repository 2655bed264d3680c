package io.partita.backend.siracusa.model;

import io.partita.backend.siracusa.model.LoopFunction.Variable;
import java.util.List;

/**
 * What only one chip has: its messages.
 *
 * @param places names of what messages are made of and leave in L2
 * @param slices arrays by name
 * @param steps arrays by name
 */
public record ChipFile(
    int chip,
    List<RoleFile.Place> places,
    List<Table> slices,
    List<Table> steps,
    List<Exchange> exchanges)
    implements Piece {
  /** An array and its elements. */
  public record Table(String name, List<String> elements) {}

  /** Fields of a struct, and what the exchange is for. */
  public record Exchange(String comment, List<Variable> fields) {}
}
