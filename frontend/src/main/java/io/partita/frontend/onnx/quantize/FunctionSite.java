package io.partita.frontend.onnx.quantize;

import java.util.List;

/**
 * An activation function of a feed-forward network of an ONNX graph: nodes that compute each
 * element of one value from the element of another one at the same place.
 *
 * @param name the name of the last node, or of its result if it has none
 * @param source the product whose result, possibly with a bias, is the argument
 * @param input the name of the argument
 * @param nodes the indices of the nodes, in order
 * @param output the name of the result
 */
public record FunctionSite(
    String name, Product source, String input, List<Integer> nodes, String output) {
  public FunctionSite {
    nodes = List.copyOf(nodes);
  }
}
