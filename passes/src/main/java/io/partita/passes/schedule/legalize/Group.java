package io.partita.passes.schedule.legalize;

import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import java.util.List;

/**
 * Nodes that one loop over tiles computes: mostly one. What the nodes hand to each other isn't in
 * memory: no value between them is an operand or a result of the group, and nobody else reads it.
 *
 * @param nodes in their order in the graph
 * @param operands what they read from elsewhere, node by node and each operand as often as it's
 *     read: for one node its operands
 * @param results those of the last node
 */
public record Group(List<Node> nodes, List<Value> operands, List<Value> results) {
  public Group {
    nodes = List.copyOf(nodes);
    operands = List.copyOf(operands);
    results = List.copyOf(results);
  }

  static Group of(List<Node> nodes) {
    List<Value> operands =
        nodes.stream()
            .flatMap(node -> node.operands().stream())
            .filter(operand -> operand.isInput() || !nodes.contains(operand.definition()))
            .toList();
    return new Group(nodes, operands, nodes.getLast().results());
  }

  /** The node that the loop is for: its name stands for the group in comments and reports. */
  public Node first() {
    return nodes.getFirst();
  }
}
