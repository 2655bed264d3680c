package io.partita.backend.siracusa.model;

import java.util.List;

/**
 * What is in the folder and how it's used.
 *
 * @param inputs lines of a table
 * @param chunkInputs lines of a table, of what it takes for several tokens at once
 * @param memories lines of a table
 * @param near lines of a table of what is in L2
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
  /** Whether there are several chips, for a template. */
  public boolean several() {
    return chips > 1;
  }
}
