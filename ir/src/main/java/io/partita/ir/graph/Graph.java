package io.partita.ir.graph;

import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SortedSet;
import java.util.TreeSet;

/**
 * An immutable dataflow graph with its nodes in topological order.
 *
 * <p>Two graphs are equal if they have the same nodes in the same order, with the same names, types
 * and edges.
 */
public final class Graph {
  /** A named output of the graph. */
  public record Output(String name, Value value) {}

  private final String name;
  private final List<Value> inputs;
  private final List<Node> nodes;
  private final List<Output> outputs;

  Graph(String name, List<Value> inputs, List<Node> nodes, List<Output> outputs) {
    this.name = name;
    this.inputs = List.copyOf(inputs);
    this.nodes = List.copyOf(nodes);
    this.outputs = List.copyOf(outputs);
  }

  public String name() {
    return name;
  }

  public List<Value> inputs() {
    return inputs;
  }

  /** In execution order. */
  public List<Node> nodes() {
    return nodes;
  }

  public List<Output> outputs() {
    return outputs;
  }

  /** Returns the symbols in the types of inputs. */
  public SortedSet<String> symbols() {
    SortedSet<String> symbols = new TreeSet<>();
    for (Value input : inputs) {
      input.type().shape().forEach(dim -> symbols.addAll(dim.symbols()));
    }
    return symbols;
  }

  /** Returns the users of each value that is used, in order and without duplicates. */
  public Map<Value, List<Node>> readers() {
    Map<Value, List<Node>> readers = new IdentityHashMap<>();
    for (Node node : nodes) {
      for (Value operand : node.operands()) {
        List<Node> list = readers.computeIfAbsent(operand, key -> new java.util.ArrayList<>(1));
        if (list.isEmpty() || list.getLast() != node) {
          list.add(node);
        }
      }
    }
    return readers;
  }

  @Override
  public boolean equals(Object object) {
    if (this == object) {
      return true;
    }
    if (!(object instanceof Graph other)
        || !name.equals(other.name)
        || inputs.size() != other.inputs.size()
        || nodes.size() != other.nodes.size()
        || outputs.size() != other.outputs.size()) {
      return false;
    }
    Map<Value, Value> same = new HashMap<>();
    for (int i = 0; i < inputs.size(); i++) {
      if (!inputs.get(i).name().equals(other.inputs.get(i).name())
          || !inputs.get(i).type().equals(other.inputs.get(i).type())) {
        return false;
      }
      same.put(inputs.get(i), other.inputs.get(i));
    }
    for (int i = 0; i < nodes.size(); i++) {
      if (!isSame(nodes.get(i), other.nodes.get(i), same)) {
        return false;
      }
    }
    for (int i = 0; i < outputs.size(); i++) {
      if (!outputs.get(i).name().equals(other.outputs.get(i).name())
          || same.get(outputs.get(i).value()) != other.outputs.get(i).value()) {
        return false;
      }
    }
    return true;
  }

  private static boolean isSame(Node left, Node right, Map<Value, Value> same) {
    if (!left.name().equals(right.name())
        || !left.op().equals(right.op())
        || left.operands().size() != right.operands().size()) {
      return false;
    }
    for (int i = 0; i < left.operands().size(); i++) {
      if (same.get(left.operand(i)) != right.operand(i)) {
        return false;
      }
    }
    for (int i = 0; i < left.results().size(); i++) {
      if (!left.results().get(i).type().equals(right.results().get(i).type())) {
        return false;
      }
      same.put(left.results().get(i), right.results().get(i));
    }
    return true;
  }

  @Override
  public int hashCode() {
    return Objects.hash(name, inputs.size(), nodes.size(), outputs.size());
  }
}
