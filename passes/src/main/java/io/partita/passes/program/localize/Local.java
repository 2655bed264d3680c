package io.partita.passes.program.localize;

import io.partita.ir.graph.Value;
import io.partita.ir.tensor.Tensor;

/** The part of a value that a device holds. */
sealed interface Local {
  /** A value of its graph. */
  record Held(Value value) implements Local {}

  /** A part of a constant, which is added to the graph at its first use. */
  record Data(Tensor whole, Box box) implements Local {}

  /** Zeros, which are added to the graph at their first use. */
  record Zeros() implements Local {}

  /** No elements. */
  record Nothing() implements Local {}
}
