package io.partita.passes.schedule.legalize;

import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import java.util.ArrayList;
import java.util.List;

/**
 * The nodes that one loop over tiles computes, mostly a single one. Values between them aren't in
 * memory: they are neither operands nor results of the group, and have no other users.
 *
 * @param nodes the nodes in their order in the graph
 * @param operands the operands from outside, node by node and with repetitions; for a single node
 *     its operands
 * @param results the results of the last node
 * @param epilogues the number of last nodes that the loop applies, as elementwise functions, to
 *     each finished tile of the nodes before
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

  /** Returns the nodes before the epilogues. */
  public List<Node> main() {
    return nodes.subList(0, nodes.size() - epilogues);
  }

  /** Returns the epilogues in order. */
  public List<Node> epilogueNodes() {
    return nodes.subList(nodes.size() - epilogues, nodes.size());
  }

  /** Whether a value is the result of one of the nodes. */
  public boolean computes(Value value) {
    return !value.isInput() && nodes.contains(value.definition());
  }

  /**
   * Returns the nodes in several groups: the one that computes the sums, then each epilogue by
   * itself.
   */
  public List<Group> unfused() {
    List<Group> groups = new ArrayList<>();
    groups.add(of(main(), 0));
    epilogueNodes().forEach(node -> groups.add(of(List.of(node), 0)));
    return groups;
  }

  /** Returns the main node, which names the group in comments and reports. */
  public Node first() {
    return nodes.getFirst();
  }
}
