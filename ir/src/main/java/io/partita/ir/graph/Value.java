package io.partita.ir.graph;

import io.partita.ir.type.TensorType;

/**
 * A tensor in a graph: an input, or one result of a node. Its identity is what edges mean.
 *
 * <p>Made by {@link GraphBuilder} only.
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

  /** The node that computes it, or null for a graph input. */
  public Node definition() {
    return definition;
  }

  /** Which result of its node, or which input of the graph, counted from 0. */
  public int index() {
    return index;
  }

  /** The input's name, or the name of the node that computes it. */
  public String name() {
    return isInput() ? inputName : definition.name();
  }

  /** The origin of the node that computes it; an input has only a name. */
  public Origin origin() {
    return isInput() ? Origin.named(inputName) : definition.origin();
  }

  @Override
  public String toString() {
    return name() + ": " + type;
  }
}
