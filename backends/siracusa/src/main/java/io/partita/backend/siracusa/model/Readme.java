package io.partita.backend.siracusa.model;

import java.util.List;

/**
 * The README.md of the folder.
 *
 * @param inputs rows of a table
 * @param chunkInputs rows of a table of the inputs for several tokens at once
 * @param memories rows of a table
 * @param near rows of a table of the use of L2
 */
public record Readme(
    String name,
    String target,
    int chips,
    List<String> files,
    List<String> inputs,
    List<String> outputs,
    List<String> chunkInputs,
    List<String> chunkOutputs,
    List<String> states,
    List<String> memories,
    List<String> near)
    implements Piece {
  /** Whether there are several chips, for the template. */
  public boolean several() {
    return chips > 1;
  }
}
