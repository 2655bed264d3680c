package io.partita.backend.metalium;

import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.eval.Shards;
import io.partita.ir.function.BinaryFunction;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.mesh.ShardedType;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.Movement;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.TensorType;
import java.util.Arrays;
import java.util.Collection;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.IntStream;
import java.util.stream.LongStream;

/**
 * Integers that select rows, such as tokens and positions. The host knows them, and gives them to
 * kernels as arguments.
 */
final class Indices {
  /**
   * An integer input.
   *
   * @param name an identifier of the host's program
   * @param count of the whole input
   */
  record Input(String name, long count) {}

  private final Map<String, Input> inputs = new LinkedHashMap<>();
  private final Map<Value, List<String>> elements = new IdentityHashMap<>();
  private final HostNumbers numbers;
  private final String prefix;

  /**
   * @param numbers what the host computes of its inputs
   * @param prefix what names begin with, to be unique in the host's program
   */
  Indices(HostNumbers numbers, String prefix) {
    this.numbers = numbers;
    this.prefix = prefix;
  }

  /**
   * Adds an input of a chip, which may have a part of it.
   *
   * @param type of the whole, as its chips hold it
   */
  void add(Value value, ShardedType type, int chip) {
    String plain = value.name().replaceAll("[^A-Za-z0-9]+", "_").toLowerCase(Locale.ROOT);
    TensorType whole = type.type();
    Input input = new Input("i_" + prefix + plain, whole.shape().elements());
    inputs.put(value.name(), input);
    Tensor places =
        Tensor.ofLongs(whole.with(ElementType.I64), LongStream.range(0, input.count()).toArray());
    long[] own = Shards.part(places, type.layout(), chip).longs();
    numbers.add(value, input, own);
    elements.put(
        value, Arrays.stream(own).mapToObj(place -> input.name() + "[" + place + "]").toList());
  }

  /** The input of a name. */
  Input input(String name) {
    return inputs.get(name);
  }

  Collection<Input> all() {
    return inputs.values();
  }

  /**
   * Returns an expression for each element.
   *
   * @throws PartitaException P5201 if the host can't compute them
   */
  List<String> of(Value value) {
    List<String> ofInput = elements.get(value);
    if (ofInput != null) {
      return ofInput;
    }
    Node node = value.isInput() ? null : value.definition();
    if (node != null && node.constant().isPresent()) {
      Tensor data = node.constant().get();
      return Arrays.stream(data.longs()).mapToObj(Long::toString).toList();
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
    if (numbers.isHosted(value)) {
      return numbers.integers(value);
    }
    throw ModelSteps.unsupported(node);
  }

  static boolean isInteger(TensorType type) {
    return !type.element().isFloat();
  }
}
