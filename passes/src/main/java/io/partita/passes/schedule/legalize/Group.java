package io.partita.passes.schedule.legalize;

import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import java.util.ArrayList;
import java.util.List;

/**
 * Nodes that one loop over tiles computes: mostly one. What the nodes hand to each other isn't in
 * memory: no value between them is an operand or a result of the group, and nobody else reads it.
 *
 * @param nodes in their order in the graph
 * @param operands what they read from elsewhere, node by node and each operand as often as it's
 *     read: for one node its operands
 * @param results those of the last node
 * @param epilogues how many of the last nodes are functions of elements that the loop applies to
 *     each finished tile of what the nodes before them compute
 */
public record Group(List<Node> nodes, List<Value> operands, List<Value> results, int epilogues) {
  public Group {
    nodes = List.copyOf(nodes);
    operands = List.copyOf(operands);
    results = List.copyOf(results);
  }

  static Group of(List<Node> nodes, int epilogues) {
    List<Value> operands =
        nodes.stream()
            .flatMap(node -> node.operands().stream())
            .filter(operand -> operand.isInput() || !nodes.contains(operand.definition()))
            .toList();
    return new Group(nodes, operands, nodes.getLast().results(), epilogues);
  }

  /** The nodes before the epilogues. */
  public List<Node> main() {
    return nodes.subList(0, nodes.size() - epilogues);
  }

  /** The nodes that are applied to finished tiles, in this order. */
  public List<Node> epilogueNodes() {
    return nodes.subList(nodes.size() - epilogues, nodes.size());
  }

  /** The same nodes in several groups: what computes the sums, then each epilogue by itself. */
  public List<Group> apart() {
    List<Group> groups = new ArrayList<>();
    groups.add(of(main(), 0));
    epilogueNodes().forEach(node -> groups.add(of(List.of(node), 0)));
    return groups;
  }

  /** The node that the loop is for: its name stands for the group in comments and reports. */
  public Node first() {
    return nodes.getFirst();
  }
}
