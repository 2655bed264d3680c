package io.partita.ir.graph;

import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * A whole model.
 *
 * @param graph what it computes in one run
 * @param states what it keeps between runs: a KV cache is an input that a run reads from the output
 *     of the last
 * @param placement on which devices it runs; none in the graph dialect
 * @param ranges which values inputs may hold, at most one for each input; found when a program is
 *     made
 */
public record Module(
    Graph graph, List<State> states, Optional<Placement> placement, List<InputRange> ranges) {
  /**
   * A value that lives from run to run.
   *
   * @param input name of the graph input that holds it before a run
   * @param output name of the graph output that holds it after
   * @param room for how many tokens it has room; none where it's no KV cache
   */
  public record State(String input, String output, Optional<Room> room) {
    public State(String input, String output) {
      this(input, output, Optional.empty());
    }
  }

  /**
   * The tokens of a KV cache.
   *
   * @param capacity how many it has room for
   * @param positions how many the model has positions for, where that is known
   */
  public record Room(long capacity, OptionalLong positions) {}

  /** The room that all KV caches have; none where it isn't known of one. */
  public static Optional<Room> room(List<State> states) {
    return states.stream().map(State::room).reduce(Module::less).flatMap(room -> room);
  }

  private static Optional<Room> less(Optional<Room> one, Optional<Room> other) {
    return one.flatMap(mine -> other.map(its -> mine.capacity() <= its.capacity() ? mine : its));
  }

  public Module {
    states = List.copyOf(states);
    ranges = List.copyOf(ranges);
  }

  public Module(Graph graph, List<State> states, Optional<Placement> placement) {
    this(graph, states, placement, List.of());
  }

  public Module(Graph graph, List<State> states) {
    this(graph, states, Optional.empty());
  }

  public Module(Graph graph) {
    this(graph, List.of());
  }

  /** The same with another graph, which has inputs and outputs of the same names. */
  public Module with(Graph changed) {
    return new Module(changed, states, placement, ranges);
  }

  /** The same with other ranges of inputs. */
  public Module withRanges(List<InputRange> found) {
    return new Module(graph, states, placement, found);
  }

  /** Which values an input may hold; none where it may hold any. */
  public Optional<InputRange> range(String input) {
    return ranges.stream().filter(range -> range.input().equals(input)).findFirst();
  }
}
