package io.partita.passes.schedule;

import io.partita.ir.graph.Node;
import io.partita.passes.schedule.legalize.Group;
import java.util.stream.Collectors;

/** Describes the computation of a node: {@code add f32[2], f32[2] -> f32[2]}. */
final class NodeText {
  private NodeText() {}

  /** Describes the first node, and the functions that follow in the same loop. */
  static String of(Group group) {
    String first = of(group.first());
    return group.epilogueNodes().stream()
        .map(node -> node.op().mnemonic())
        .collect(Collectors.joining(", ", group.epilogues() > 0 ? first + ", then " : first, ""));
  }

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
