package io.partita.ir.schedule;

import io.partita.ir.graph.Graph;
import java.util.List;

/**
 * The values that the steps of a chip compute in the home or the working memory, for comparison
 * with the reference. Values are identified by the numbers of their node and of its result, or by
 * -1 and the number of a graph input.
 *
 * @param graphs the graph of each device of the role, in order; node {@code i} of one corresponds
 *     to node {@code i} of each other one
 * @param results the results in the order of their steps
 * @param stored the values that are parts of the image
 */
public record StepMeaning(List<Graph> graphs, List<Result> results, List<Stored> stored) {
  public StepMeaning {
    graphs = List.copyOf(graphs);
    results = List.copyOf(results);
    stored = List.copyOf(stored);
  }

  /**
   * A value that is complete after a step.
   *
   * @param at the address of the first element
   * @param strides the strides of the dimensions of the value in elements
   * @param isGuarded whether a device may skip the step, and then has no such value
   */
  public record Result(
      int step, int node, int index, Address at, List<Long> strides, boolean isGuarded) {
    public Result {
      strides = List.copyOf(strides);
    }
  }

  /**
   * The value of a constant.
   *
   * @param constant the index in {@link ChipSchedule#constants}
   */
  public record Stored(int node, int index, int constant) {}
}
