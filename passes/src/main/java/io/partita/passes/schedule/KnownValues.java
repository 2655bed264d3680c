package io.partita.passes.schedule;

import io.partita.ir.eval.OpEvaluator;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Op;
import io.partita.ir.op.Structured;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.TensorType;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Values that depend on constants alone, on each device of a role. Their elements are computed at
 * their first use; most are never used.
 */
final class KnownValues {
  private final SharedRegions regions;
  private final Map<Value, List<Tensor>> known = new IdentityHashMap<>();

  KnownValues(SharedRegions regions) {
    this.regions = regions;
  }

  /**
   * @param tensors the tensor of each device
   */
  void put(Value value, List<Tensor> tensors) {
    known.put(value, tensors);
  }

  /** Returns the tensor of each device of a value that was {@link #put}. */
  List<Tensor> of(Value value) {
    return known.get(value);
  }

  /** Records the results of a node, if they are known. */
  void follow(Node node) {
    result(node).ifPresent(tensors -> known.put(node.result(), tensors));
  }

  /**
   * Returns a value that is stored instead of being computed in each run: the result of a movement,
   * an elementwise operation, or an operation whose result isn't larger than its operands.
   *
   * @return the tensor of each device; empty for an unknown value
   */
  Optional<List<Tensor>> stored(Node node) {
    boolean isStored =
        node.op() instanceof Movement
            || node.op() instanceof Elementwise
            || node.op() instanceof Structured.Embedding
            || node.results().size() == 1
                && node.result().type().bytes()
                    <= node.operands().stream().mapToLong(each -> each.type().bytes()).sum();
    return isStored ? result(node) : Optional.empty();
  }

  private Optional<List<Tensor>> result(Node node) {
    boolean isKnown =
        node.results().size() == 1
            && !node.operands().isEmpty()
            && node.operands().stream().allMatch(known::containsKey);
    if (!isKnown) {
      return Optional.empty();
    }
    List<List<Tensor>> operands = node.operands().stream().map(known::get).toList();
    return Optional.of(results(node.op(), operands, node.result().type()));
  }

  /** Returns the results of an operation on constants; the same tensors for the same operands. */
  List<Tensor> results(Op op, List<List<Tensor>> operands, TensorType type) {
    return regions.folded(op, operands, type, () -> evaluated(op, operands, type));
  }

  private static List<Tensor> evaluated(Op op, List<List<Tensor>> operands, TensorType type) {
    List<Tensor> tensors = new ArrayList<>();
    for (int device = 0; device < operands.getFirst().size(); device++) {
      int own = device;
      List<Tensor> mine = operands.stream().map(each -> each.get(own)).toList();
      tensors.add(Tensor.deferred(type, () -> OpEvaluator.evaluate(op, mine).getFirst().bytes()));
    }
    return tensors;
  }
}
