package io.partita.frontend.onnx;

import java.util.List;

/**
 * A node that can't be imported.
 *
 * @param node the name of the node or, if it has none, of its first output
 * @param opset the version of its operator set, or 0 if the model doesn't import one
 * @param inputs the type of each operand as text: {@code ?} if unknown, and empty for a missing
 *     operand
 * @param reason the reason, on one line
 */
public record UnsupportedNode(
    String node, String operator, String domain, int opset, List<String> inputs, String reason) {
  public UnsupportedNode {
    inputs = List.copyOf(inputs);
  }
}
