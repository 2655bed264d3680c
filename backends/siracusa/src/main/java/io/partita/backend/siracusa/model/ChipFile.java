package io.partita.backend.siracusa.model;

import io.partita.backend.siracusa.model.LoopFunction.Variable;
import java.util.List;

/**
 * The file of one chip: its messages.
 *
 * @param places macros for the messages' operands and results in L2
 * @param slices arrays by name
 * @param actions arrays by name
 */
public record ChipFile(
    int chip,
    List<RoleFile.Place> places,
    List<Table> slices,
    List<Table> actions,
    List<Exchange> exchanges)
    implements Piece {
  /** An array's name and elements. */
  public record Table(String name, List<String> elements) {}

  /** The fields of an exchange's struct, and a comment that names the exchange. */
  public record Exchange(String comment, List<Variable> fields) {}
}
