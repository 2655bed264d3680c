package io.partita.ir.graph;

import io.partita.ir.op.Op;
import io.partita.ir.op.Source;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.TensorType;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** An operation in a graph, with its operands, results and origin. */
public final class Node {
  private final Op op;
  private final List<Value> operands;
  private final List<Value> results;
  private final Origin origin;

  Node(Op op, List<Value> operands, List<TensorType> resultTypes, Origin origin) {
    this.op = op;
    this.operands = List.copyOf(operands);
    this.origin = origin;
    List<Value> values = new ArrayList<>();
    for (TensorType type : resultTypes) {
      values.add(Value.result(this, values.size(), type));
    }
    this.results = List.copyOf(values);
  }

  public Op op() {
    return op;
  }

  public List<Value> operands() {
    return operands;
  }

  public Value operand(int index) {
    return operands.get(index);
  }

  public List<Value> results() {
    return results;
  }

  /** Returns the only result. */
  public Value result() {
    if (results.size() != 1) {
      throw new IllegalStateException(op.mnemonic() + " has " + results.size() + " results");
    }
    return results.getFirst();
  }

  /**
   * The name of the ONNX node that this node comes from, or of its first output if that has no
   * name. Several nodes may have the same name; it may be empty.
   */
  public String name() {
    return origin.name();
  }

  /** The name, block and role. */
  public Origin origin() {
    return origin;
  }

  /** Returns the data if this is a constant. */
  public Optional<Tensor> constant() {
    return op instanceof Source.Constant(Tensor data) ? Optional.of(data) : Optional.empty();
  }

  @Override
  public String toString() {
    return op.mnemonic() + (name().isEmpty() ? "" : " \"" + name() + "\"");
  }
}
