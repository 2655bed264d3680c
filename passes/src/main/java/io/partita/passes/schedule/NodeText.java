package io.partita.passes.schedule;

import io.partita.ir.graph.Node;
import java.util.stream.Collectors;

/** What a node computes, for a reader: {@code add f32[2], f32[2] -> f32[2]}. */
final class NodeText {
  private NodeText() {}

  static String of(Node node) {
    return node.op().mnemonic()
        + node.operands().stream()
            .map(operand -> operand.type().toString())
            .collect(Collectors.joining(", ", " ", " -> "))
        + node.results().stream()
            .map(result -> result.type().toString())
            .collect(Collectors.joining(", "));
  }
}
