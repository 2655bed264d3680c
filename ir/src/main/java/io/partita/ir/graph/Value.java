package io.partita.ir.graph;

import io.partita.ir.type.TensorType;

/**
 * A tensor in a graph: an input, or a result of a node. Edges refer to values by identity.
 *
 * <p>Only {@link GraphBuilder} creates values.
 */
public final class Value {
  private final TensorType type;
  private final Node definition;
  private final int index;
  private final String inputName;

  private Value(TensorType type, Node definition, int index, String inputName) {
    this.type = type;
    this.definition = definition;
    this.index = index;
    this.inputName = inputName;
  }

  static Value input(String name, int index, TensorType type) {
    return new Value(type, null, index, name);
  }

  static Value result(Node definition, int index, TensorType type) {
    return new Value(type, definition, index, null);
  }

  public TensorType type() {
    return type;
  }

  public boolean isInput() {
    return definition == null;
  }

  /** The defining node, or null for a graph input. */
  public Node definition() {
    return definition;
  }

  /** The index among the results of its node, or among the inputs of the graph. */
  public int index() {
    return index;
  }

  /** The name of the input or of the defining node. */
  public String name() {
    return isInput() ? inputName : definition.name();
  }

  /** The origin of the defining node; that of an input has only a name. */
  public Origin origin() {
    return isInput() ? Origin.named(inputName) : definition.origin();
  }

  @Override
  public String toString() {
    return name() + ": " + type;
  }
}
