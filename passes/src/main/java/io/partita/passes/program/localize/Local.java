package io.partita.passes.program.localize;

import io.partita.ir.graph.Value;
import io.partita.ir.tensor.Tensor;

/** What one device has of a value. */
sealed interface Local {
  /** In its graph. */
  record Held(Value value) implements Local {}

  /** A part of a constant, which isn't in its graph as long as nothing reads it. */
  record Data(Tensor whole, Box box) implements Local {}

  /** Zeros, which aren't in its graph as long as nothing needs them. */
  record Zeros() implements Local {}

  /** No element. */
  record Nothing() implements Local {}
}
