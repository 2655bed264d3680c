package io.partita.backend.metalium;

import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.function.BinaryFunction;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.Movement;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.TensorType;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.IntStream;

/**
 * Integers that select rows, such as tokens and positions. The host knows them, and gives them to
 * kernels as arguments.
 */
final class Indices {
  /**
   * An integer input.
   *
   * @param name an identifier of the host's program
   */
  record Input(String name, long count) {}

  private final Map<Value, Input> inputs = new IdentityHashMap<>();
  private final List<Input> all = new ArrayList<>();

  /** Adds an input of a chip; all chips have the same integers. */
  void add(Value value) {
    String name = value.name().replaceAll("[^A-Za-z0-9]+", "_").toLowerCase(Locale.ROOT);
    Input input = new Input("i_" + name, value.type().shape().elements());
    inputs.put(value, input);
    if (!all.contains(input)) {
      all.add(input);
    }
  }

  Input input(Value value) {
    return inputs.get(value);
  }

  List<Input> all() {
    return all;
  }

  /**
   * Returns an expression for each element.
   *
   * @throws PartitaException P5201 if they are computed otherwise than by adding constants
   */
  List<String> of(Value value) {
    Input input = inputs.get(value);
    if (input != null) {
      return IntStream.range(0, Math.toIntExact(input.count()))
          .mapToObj(i -> input.name() + "[" + i + "]")
          .toList();
    }
    Node node = value.isInput() ? null : value.definition();
    if (node != null && node.constant().isPresent()) {
      Tensor data = node.constant().get();
      return java.util.Arrays.stream(data.longs()).mapToObj(Long::toString).toList();
    }
    if (node != null && node.op() instanceof Movement.Reshape) {
      return of(node.operand(0));
    }
    if (node != null
        && node.op() instanceof Elementwise.Cast
        && isInteger(node.operand(0).type())) {
      return of(node.operand(0));
    }
    if (node != null && node.op() instanceof Elementwise.Binary(BinaryFunction function)) {
      String sign =
          function == BinaryFunction.ADD ? " + " : function == BinaryFunction.SUB ? " - " : "";
      List<String> left = of(node.operand(0));
      List<String> right = of(node.operand(1));
      int count = Math.toIntExact(value.type().shape().elements());
      boolean fits =
          (left.size() == count || left.size() == 1)
              && (right.size() == count || right.size() == 1);
      if (!sign.isEmpty() && fits) {
        return IntStream.range(0, count)
            .mapToObj(i -> left.get(i % left.size()) + sign + right.get(i % right.size()))
            .toList();
      }
    }
    throw ModelSteps.unsupported(node);
  }

  static boolean isInteger(TensorType type) {
    return !type.element().isFloat();
  }
}
