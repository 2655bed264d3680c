package io.partita.backend.siracusa.model;

import java.util.List;
import java.util.Optional;

/**
 * The program of the chips of one role.
 *
 * @param comment lines
 * @param places macros for addresses in L2 and L3
 * @param loads the most boxes that a loop loads
 * @param stores likewise for stores
 * @param loops the functions of loops, without duplicates
 * @param preloads the most preloads in flight
 * @param fetches the most fetches of rows in flight
 * @param streams the transfers between L2 and L3, by number
 * @param hasExchanges whether there's a table of exchanges for each chip
 * @param clear the steps that reset the states
 * @param start the steps that run once
 * @param probes the results of steps in L2
 * @param chunk the steps for several tokens at once
 */
public record RoleFile(
    List<String> comment,
    List<String> includes,
    List<Place> places,
    long loads,
    long stores,
    List<LoopFunction> loops,
    int preloads,
    int fetches,
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
  public boolean hasPreloads() {
    return preloads > 0;
  }

  public boolean hasFetches() {
    return fetches > 0;
  }

  /** A macro for an address. */
  public record Place(String name, String value, String comment) {}

  /** The entry point for several tokens at once. */
  public record Chunk(List<StepCall> steps, List<Port> inputs, List<Port> outputs) {}

  /** One transfer between L2 and L3: an array of parts. */
  public record Stream(String parts, long count) {}

  /**
   * A value in L2 after a step.
   *
   * @param dimensions of the lines; one of extent 0 for a single line
   */
  public record Probe(
      int step, String place, long lineBytes, int count, List<LoopFunction.Dimension> dimensions) {}

  /**
   * A tensor that a caller reads or writes.
   *
   * @param name a literal, as is the type
   * @param place its address in L2
   * @param indexBytes bytes of an element whose values are limited; 0 if they aren't
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
