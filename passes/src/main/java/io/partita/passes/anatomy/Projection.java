package io.partita.passes.anatomy;

import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Contraction;
import io.partita.ir.type.Dim;

/**
 * A product with trained weights: a linear, a convolution of one pixel, or what stands for a linear
 * in a model that quantises what enters it as it runs.
 *
 * @param node the linear, the convolution, or the product of integers
 * @param input the features before they're quantised
 * @param result the features with their scale and bias
 */
public record Projection(Node node, Value input, Value result, boolean quantized) {
  /** Whether its features are channels, and not the last dimension. */
  boolean isPixelwise() {
    return node.op() instanceof Contraction.Convolution;
  }

  Dim features() {
    return features(result);
  }

  Dim inputFeatures() {
    return features(input);
  }

  private Dim features(Value value) {
    return isPixelwise() ? value.type().dim(1) : value.type().shape().fromEnd(0);
  }
}
