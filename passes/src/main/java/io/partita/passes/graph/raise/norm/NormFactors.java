package io.partita.passes.graph.raise.norm;

import io.partita.ir.function.BinaryFunction;
import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Elementwise;
import io.partita.ir.tensor.Tensor;

/** Products of norms with numbers. */
final class NormFactors {
  /** A root and its inverse, each rounded to f32, differ from one by less. */
  private static final double NO_FACTOR = 1e-6;

  private NormFactors() {}

  /** Returns the product, which is the norm itself if the number is one but for rounding. */
  static Value times(Value norm, double number, GraphEditor graph) {
    return Math.abs(number - 1) <= NO_FACTOR
        ? norm
        : graph.add(
            new Elementwise.Binary(BinaryFunction.MUL),
            norm,
            graph.constant(Tensor.scalar(norm.type().element(), number)));
  }
}
