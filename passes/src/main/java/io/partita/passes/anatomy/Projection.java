package io.partita.passes.anatomy;

import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;

/**
 * A product with trained weights: a linear, or what stands for one in a model that quantises what
 * enters it as it runs.
 *
 * @param node the linear, or the product of integers
 * @param input the features before they're quantised
 * @param result the features with their scale and bias
 */
public record Projection(Node node, Value input, Value result, boolean quantized) {}
