package io.partita.benchmarks.device;

import io.partita.ir.graph.GraphBuilder;
import io.partita.ir.graph.Value;
import io.partita.ir.tensor.Tensor;
import java.util.List;

/**
 * An operation of one size, or several in one loop.
 *
 * @param inputs the number of operands that are inputs of the program; others are constants
 * @param isHeldOut whether no figure of a target was fitted to it
 */
record KernelCase(String name, Body body, List<Tensor> operands, int inputs, boolean isHeldOut) {
  KernelCase {
    operands = List.copyOf(operands);
  }

  /** Adds the operation to a graph, whose next nodes are named after the case. */
  @FunctionalInterface
  interface Body {
    Value add(GraphBuilder graph, List<Value> operands);
  }
}
