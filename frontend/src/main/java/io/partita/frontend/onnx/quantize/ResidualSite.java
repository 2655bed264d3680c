package io.partita.frontend.onnx.quantize;

import java.util.List;

/**
 * A sum of the residual stream of an ONNX graph: a skip connection and the result of a product.
 *
 * @param name the name of the node, or of its result if it has none
 * @param output the name of the sum
 * @param readers the indices of the nodes that read it, in order
 */
public record ResidualSite(String name, String output, List<Integer> readers) {
  public ResidualSite {
    readers = List.copyOf(readers);
  }
}
