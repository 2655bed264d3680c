package io.partita.passes.graph.anatomy;

import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Contraction;
import io.partita.ir.type.Dim;
import io.partita.ir.type.Shape;

/**
 * A product with trained weights: a linear, linears of parts of the features, a 1×1 convolution, or
 * a dynamically quantised linear.
 *
 * @param node the linear, the convolution, or the product of integers
 * @param input the features before quantisation
 * @param result the features after scale and bias
 */
public record Projection(Node node, Value input, Value result, boolean quantized) {
  /** Whether its features are channels, and not the last dimension. */
  private boolean isPixelwise() {
    return node.op() instanceof Contraction.Convolution;
  }

  /** Returns the number of matrices, each of which multiplies a part of the features. */
  private Dim groups() {
    Shape weight = node.operand(1).type().shape();
    return node.op() instanceof Contraction.MatMul && weight.rank() > 2
        ? weight.range(0, weight.rank() - 2).size()
        : Dim.ONE;
  }

  /** Whether it is one product of a matrix with the last dimension. */
  boolean isLinear() {
    return !isPixelwise() && groups().is(1);
  }

  Dim features() {
    return features(result);
  }

  Dim inputFeatures() {
    return features(input);
  }

  private Dim features(Value value) {
    return isPixelwise() ? value.type().dim(1) : value.type().shape().fromEnd(0).times(groups());
  }
}
