package io.partita.frontend.onnx.operator;

import io.partita.frontend.onnx.NodeScope;

/** Turns a node of one ONNX operator into operations. */
@FunctionalInterface
public interface OperatorImporter {
  /**
   * Reads operands and attributes from {@code node}, adds operations to it, and names the value of
   * each wanted output.
   *
   * @throws io.partita.ir.diagnostic.PartitaException as {@link NodeScope#invalid} and {@link
   *     NodeScope#unsupported} make it
   */
  void convert(NodeScope node);
}
