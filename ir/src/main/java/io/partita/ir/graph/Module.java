package io.partita.ir.graph;

import java.util.List;
import java.util.Optional;

/**
 * A whole model.
 *
 * @param graph what it computes in one run
 * @param states what it keeps between runs: a KV cache is an input that a run reads from the output
 *     of the last
 * @param placement on which devices it runs; none in the graph dialect
 */
public record Module(Graph graph, List<State> states, Optional<Placement> placement) {
  /**
   * A value that lives from run to run.
   *
   * @param input name of the graph input that holds it before a run
   * @param output name of the graph output that holds it after
   */
  public record State(String input, String output) {}

  public Module {
    states = List.copyOf(states);
  }

  public Module(Graph graph, List<State> states) {
    this(graph, states, Optional.empty());
  }

  public Module(Graph graph) {
    this(graph, List.of());
  }

  /** The same with another graph, which has inputs and outputs of the same names. */
  public Module with(Graph changed) {
    return new Module(changed, states, placement);
  }
}
