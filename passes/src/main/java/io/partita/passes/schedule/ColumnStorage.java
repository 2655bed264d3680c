package io.partita.passes.schedule;

import io.partita.ir.graph.Graph;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Contraction;
import io.partita.ir.op.Movement;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The right operands of byte products, which are stored with contiguous columns: the products'
 * kernels multiply four bytes of a column at once.
 */
final class ColumnStorage {
  private final Map<Value, List<Node>> readers;
  private final Set<Value> outputs = Collections.newSetFromMap(new IdentityHashMap<>());

  ColumnStorage(Graph graph) {
    this.readers = graph.readers();
    graph.outputs().forEach(output -> outputs.add(output.value()));
  }

  /** Whether all that reads a value are byte products of which it is the right operand. */
  boolean serves(Value value) {
    Shape shape = value.type().shape();
    List<Node> all = readers.getOrDefault(value, List.of());
    return value.type().element().isByte()
        && shape.rank() >= 2
        && shape.extent(shape.rank() - 2) > 1
        && shape.extent(shape.rank() - 1) > 1
        && !outputs.contains(value)
        && !all.isEmpty()
        && all.stream().allMatch(node -> isRight(node, value));
  }

  private static boolean isRight(Node node, Value value) {
    return node.op() instanceof Contraction.MatMul
        && node.operand(1) == value
        && node.operand(0) != value
        && node.operand(0).type().element().isByte();
  }

  /** Swaps the last two dimensions. */
  static Movement.Transpose swap(int rank) {
    List<Integer> permutation = new ArrayList<>();
    for (int i = 0; i < rank - 2; i++) {
      permutation.add(i);
    }
    permutation.add(rank - 1);
    permutation.add(rank - 2);
    return new Movement.Transpose(permutation);
  }

  /** The type after {@link #swap}. */
  static TensorType swapped(TensorType type) {
    Shape shape = type.shape();
    int last = shape.rank() - 1;
    return type.with(shape.with(last, shape.dim(last - 1)).with(last - 1, shape.dim(last)));
  }
}
