package io.partita.frontend.onnx.operator;

import io.partita.frontend.onnx.NodeScope;

/** Imports nodes of one ONNX operator. */
@FunctionalInterface
public interface OperatorImporter {
  /**
   * Reads operands and attributes from {@code node}, adds operations to it, and names the value of
   * each wanted output.
   *
   * @throws io.partita.ir.diagnostic.PartitaException from {@link NodeScope#invalid} or {@link
   *     NodeScope#unsupported}
   */
  void convert(NodeScope node);
}
