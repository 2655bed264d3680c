package io.partita.ir.graph;

import io.partita.ir.op.Op;
import io.partita.ir.op.Source;
import io.partita.ir.op.TypeMismatch;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.TensorType;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;

/**
 * Builds a graph node by node; {@link #finish} freezes it. Result types are inferred.
 *
 * <p>{@link #at} sets the origin of the nodes that are added next.
 */
public final class GraphBuilder {
  private final String name;
  private final List<Value> inputs = new ArrayList<>();
  private final List<Node> nodes = new ArrayList<>();
  private final List<Graph.Output> outputs = new ArrayList<>();
  private final Set<Value> known = Collections.newSetFromMap(new IdentityHashMap<>());
  private Origin origin = Origin.NONE;
  private boolean finished;

  public GraphBuilder(String name) {
    this.name = name;
  }

  /** Sets the origin of the next nodes to a name without block and role. */
  public GraphBuilder at(String name) {
    return at(Origin.named(name));
  }

  /** Sets the origin of the next nodes. */
  public GraphBuilder at(Origin origin) {
    this.origin = origin;
    return this;
  }

  /** Sets the origin of the next nodes to that of {@code node}. */
  public GraphBuilder at(Node node) {
    return at(node.origin());
  }

  /**
   * Sets the origin of the next nodes to that of a value: its defining node, or the name of a graph
   * input.
   */
  public GraphBuilder at(Value value) {
    return value.isInput() ? at(value.name()) : at(value.definition());
  }

  public Value input(String name, TensorType type) {
    Value value = Value.input(name, inputs.size(), type);
    inputs.add(value);
    known.add(value);
    return value;
  }

  /**
   * Adds a node with one result.
   *
   * @throws TypeMismatch if the operands don't fit the operation
   */
  public Value add(Op op, Value... operands) {
    return addNode(op, List.of(operands)).result();
  }

  public Value add(Op op, List<Value> operands) {
    return addNode(op, operands).result();
  }

  /**
   * Adds a node.
   *
   * @throws TypeMismatch if the operands don't fit the operation
   */
  public Node addNode(Op op, List<Value> operands) {
    if (finished) {
      throw new IllegalStateException("the graph is frozen");
    }
    for (Value operand : operands) {
      if (!known.contains(operand)) {
        throw new IllegalArgumentException("operand " + operand + " is not of this graph");
      }
    }
    Node node =
        new Node(
            op,
            operands,
            op.possibleResultTypes(operands.stream().map(Value::type).toList()),
            origin);
    nodes.add(node);
    known.addAll(node.results());
    return node;
  }

  public Value constant(Tensor data) {
    return add(new Source.Constant(data));
  }

  /** Adds a constant with its own name, such as that of a weight. The current origin is kept. */
  public Value constant(String name, Tensor data) {
    return constant(Origin.named(name), data);
  }

  /**
   * Adds a constant with its own origin. The current origin is kept, and gives the name if the
   * constant has none.
   */
  public Value constant(Origin own, Tensor data) {
    Origin others = origin;
    Value value = at(own.name().isEmpty() ? own.withName(others.name()) : own).constant(data);
    origin = others;
    return value;
  }

  public void output(String name, Value value) {
    if (!known.contains(value)) {
      throw new IllegalArgumentException("output " + value + " is not of this graph");
    }
    outputs.add(new Graph.Output(name, value));
  }

  public Graph finish() {
    finished = true;
    return new Graph(name, inputs, nodes, outputs);
  }
}
