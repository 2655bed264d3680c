package io.partita.ir.schedule;

import io.partita.ir.graph.Graph;
import java.util.List;

/**
 * What the steps of a chip compute, for whoever compares what they leave at home with it. Values
 * are named by the number of their node in the graph and of the node's result, or by -1 and the
 * number of the graph's input.
 *
 * @param graphs for each of the devices of the role, in their order; node {@code i} of one is the
 *     counterpart of node {@code i} of each other
 * @param results in the order of their steps
 * @param stored values that are parts of the image
 */
public record StepMeaning(List<Graph> graphs, List<Result> results, List<Stored> stored) {
  public StepMeaning {
    graphs = List.copyOf(graphs);
    results = List.copyOf(results);
    stored = List.copyOf(stored);
  }

  /**
   * A value that is whole at home when a step has ended.
   *
   * @param home offset in bytes of the first element
   * @param strides elements from one index to the next, of each dimension of the value's type
   */
  public record Result(int step, int node, int index, long home, List<Long> strides) {
    public Result {
      strides = List.copyOf(strides);
    }
  }

  /**
   * A constant's value.
   *
   * @param constant index in {@link ChipSchedule#constants}
   */
  public record Stored(int node, int index, int constant) {}
}
