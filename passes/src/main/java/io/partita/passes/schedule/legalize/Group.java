package io.partita.passes.schedule.legalize;

import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import java.util.stream.IntStream;

/**
 * The nodes that one loop over tiles computes, mostly a single one. Values between them aren't in
 * memory: they are neither operands nor results of the group, and have no other users. Only what a
 * norm among them normalises may have other users, as residuals do.
 *
 * @param nodes the nodes in their order in the graph
 * @param operands the operands from outside, node by node and with repetitions; for a single node
 *     its operands
 * @param results the results of the last node, after the operand of the norm if it has other users
 * @param epilogues the number of last nodes that the loop applies to each finished tile of the
 *     nodes before: elementwise functions and at most one norm, of whole rows
 */
public record Group(List<Node> nodes, List<Value> operands, List<Value> results, int epilogues) {
  public Group {
    nodes = List.copyOf(nodes);
    operands = List.copyOf(operands);
    results = List.copyOf(results);
  }

  static Group of(List<Node> nodes, int epilogues) {
    return of(nodes, epilogues, nodes.getLast().results());
  }

  static Group of(List<Node> nodes, int epilogues, List<Value> results) {
    List<Value> operands =
        nodes.stream()
            .flatMap(node -> node.operands().stream())
            .filter(operand -> operand.isInput() || !nodes.contains(operand.definition()))
            .toList();
    return new Group(nodes, operands, results, epilogues);
  }

  /** Returns the nodes before the epilogues. */
  public List<Node> main() {
    return nodes.subList(0, nodes.size() - epilogues);
  }

  /** Returns the epilogues in order. */
  public List<Node> epilogueNodes() {
    return nodes.subList(nodes.size() - epilogues, nodes.size());
  }

  /** Whether a norm is among the epilogues. */
  public boolean normalises() {
    return norm().isPresent();
  }

  /** Returns the number of the norm among the nodes, if it is one of the epilogues. */
  private OptionalInt norm() {
    return IntStream.range(nodes.size() - epilogues, nodes.size())
        .filter(i -> Epilogues.isNorm(nodes.get(i)))
        .findFirst();
  }

  /** Whether a value is the result of one of the nodes. */
  public boolean computes(Value value) {
    return !value.isInput() && nodes.contains(value.definition());
  }

  /**
   * Returns the nodes in several groups: those before a norm, and the norm with what follows it; or
   * else the nodes before the epilogues, and the epilogues.
   */
  public List<Group> apart() {
    if (normalises()) {
      int norm = norm().getAsInt();
      return List.of(
          of(nodes.subList(0, norm), norm - main().size()),
          of(nodes.subList(norm, nodes.size()), nodes.size() - norm - 1));
    }
    List<Group> groups = new ArrayList<>(List.of(of(main(), 0)));
    if (Epilogues.isHead(epilogueNodes().getFirst())) {
      groups.add(of(epilogueNodes(), epilogues - 1));
    } else {
      epilogueNodes().forEach(node -> groups.add(of(List.of(node), 0)));
    }
    return groups;
  }

  /** Returns the main node, which names the group in comments and reports. */
  public Node first() {
    return nodes.getFirst();
  }
}
