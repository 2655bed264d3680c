package io.partita.backend.siracusa.model;

import java.util.List;
import java.util.Optional;

/**
 * What chips of one role do.
 *
 * @param comment lines
 * @param places names of what is in L2 and L3
 * @param loads the most operands that a loop loads
 * @param stores likewise stores
 * @param loops each once
 * @param streams parts of transfers with L3, by number
 * @param hasExchanges whether there's a table of exchanges for each chip
 * @param clear states become zeros
 * @param start what runs once
 * @param probes what steps leave in L2
 * @param chunk the steps for several tokens at once
 */
public record RoleFile(
    List<String> comment,
    List<String> includes,
    List<Place> places,
    long loads,
    long stores,
    List<LoopFunction> loops,
    List<Stream> streams,
    boolean hasExchanges,
    List<StepCall> clear,
    List<StepCall> start,
    List<StepCall> steps,
    List<Probe> probes,
    List<Port> inputs,
    List<Port> outputs,
    Optional<Chunk> chunk)
    implements Piece {
  /** A macro for what is in a memory. */
  public record Place(String name, String value, String comment) {}

  /** A run for several tokens at once. */
  public record Chunk(List<StepCall> steps, List<Port> inputs, List<Port> outputs) {}

  /** Room for one transfer with L3: an array of parts. */
  public record Stream(String parts, long count) {}

  /**
   * A value in L2 after a step.
   *
   * @param dimensions of lines; one of extent 0 where there's a single line
   */
  public record Probe(
      int step, String place, long lineBytes, int count, List<LoopFunction.Dimension> dimensions) {}

  /**
   * A tensor that a caller reads or writes.
   *
   * @param name and type: as literals
   * @param place in L2
   * @param indexBytes of an element whose values are limited; 0 where they aren't
   * @param least the smallest value, as a literal
   * @param most the largest value, as a literal
   */
  public record Port(
      String name,
      String type,
      String place,
      long bytes,
      long indexBytes,
      String least,
      String most) {}
}
