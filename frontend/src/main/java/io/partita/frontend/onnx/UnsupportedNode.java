package io.partita.frontend.onnx;

import java.util.List;

/**
 * A node that can't be imported.
 *
 * @param node its name, or that of its first output where it has none
 * @param opset the version of its operator set, 0 where the model doesn't import one
 * @param inputs the type of each operand as text: {@code ?} where it's not known, and empty where
 *     the operand is absent
 * @param reason one line
 */
public record UnsupportedNode(
    String node, String operator, String domain, int opset, List<String> inputs, String reason) {
  public UnsupportedNode {
    inputs = List.copyOf(inputs);
  }
}
