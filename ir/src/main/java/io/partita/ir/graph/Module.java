package io.partita.ir.graph;

import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * A whole model.
 *
 * @param graph the computation of one run
 * @param states the state between runs: for a KV cache, the input of a run is the output of the
 *     previous one
 * @param placement the devices and the layouts of inputs; empty in the graph dialect
 * @param ranges the valid values of inputs, at most one for each input; determined when a program
 *     is made
 */
public record Module(
    Graph graph, List<State> states, Optional<Placement> placement, List<InputRange> ranges) {
  /**
   * A value that persists between runs.
   *
   * @param input name of the graph input that holds it before a run
   * @param output name of the graph output that holds it after
   * @param room the capacity in tokens; empty if it isn't a KV cache
   */
  public record State(String input, String output, Optional<Room> room) {
    public State(String input, String output) {
      this(input, output, Optional.empty());
    }
  }

  /**
   * The capacity of a KV cache.
   *
   * @param capacity the number of tokens that it holds
   * @param positions the number of the model's positions, if known
   */
  public record Room(long capacity, OptionalLong positions) {}

  /** Returns the least capacity of all KV caches; empty if one is unknown. */
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

  /** Returns the module with another graph, whose inputs and outputs have the same names. */
  public Module with(Graph changed) {
    return new Module(changed, states, placement, ranges);
  }

  /** Returns the module with other ranges of inputs. */
  public Module withRanges(List<InputRange> found) {
    return new Module(graph, states, placement, found);
  }

  /** Returns the valid values of an input; empty if all are valid. */
  public Optional<InputRange> range(String input) {
    return ranges.stream().filter(range -> range.input().equals(input)).findFirst();
  }
}
