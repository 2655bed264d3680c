package io.partita.passes.graph.raise.integer;

import io.partita.ir.eval.OpEvaluator;
import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.IntegerNetwork.Lookup;
import io.partita.ir.op.Op;
import io.partita.ir.op.Quantized;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.LongStream;

/** The nodes above a value as functions of the first bytes that they can be computed from. */
final class Tabulation {
  /** The most nodes of a function. */
  private static final int MAX_NODES = 32;

  /**
   * A function of bytes.
   *
   * @param results its result for each byte, in order
   */
  private record Function(Value argument, Tensor results) {
    static Function identity(Value argument) {
      return new Function(argument, bytes(argument.type().element()));
    }

    Value value(GraphEditor graph) {
      return equals(identity(argument))
          ? argument
          : graph.add(new Lookup(), argument, graph.constant(results));
    }
  }

  private final GraphEditor graph;
  private final Shape shape;
  private final Map<Node, Optional<Function>> known = new IdentityHashMap<>();

  /**
   * @param shape the shape of the bytes and of all values that are computed from them
   */
  private Tabulation(GraphEditor graph, Shape shape) {
    this.graph = graph;
    this.shape = shape;
  }

  /**
   * Returns a lookup that computes the same as a node, or the argument if it is the same; empty if
   * the node isn't a function of one argument.
   */
  static Optional<Value> lookup(Node node, GraphEditor graph) {
    return new Tabulation(graph, node.result().type().shape())
        .of(node)
        .map(function -> function.value(graph));
  }

  /** Returns all numbers of a type, in order. */
  private static Tensor bytes(ElementType element) {
    long[] all = LongStream.rangeClosed(element.minimum(), element.maximum()).toArray();
    return Tensor.ofLongs(TensorType.of(element, Lookup.ENTRIES), all);
  }

  private Optional<Function> of(Node node) {
    Optional<Function> found = known.get(node);
    if (found == null) {
      if (known.size() >= MAX_NODES) {
        return Optional.empty();
      }
      // Nodes that have been begun count, so that the number bounds the depth, too.
      known.put(node, Optional.empty());
      found = computed(node);
      known.put(node, found);
    }
    return found;
  }

  private Optional<Function> computed(Node node) {
    boolean isElementwise =
        switch (node.op()) {
          case Quantized op -> graph.constant(graph.operand(node, 1)).isPresent();
          case Elementwise op -> true;
          case Lookup op -> true;
          case Op other -> false;
        };
    if (!isElementwise || !node.result().type().shape().equals(shape)) {
      return Optional.empty();
    }
    Value argument = null;
    List<Tensor> operands = new ArrayList<>();
    for (int i = 0; i < node.operands().size(); i++) {
      Value operand = graph.operand(node, i);
      Optional<Tensor> constant = graph.constant(operand);
      if (constant.isPresent()) {
        boolean isTable = node.op() instanceof Lookup && i == 1;
        operands.add(isTable ? constant.get() : scalar(constant.get()));
      } else {
        Function function = of(operand).orElse(null);
        if (function == null || argument != null && argument != function.argument) {
          return Optional.empty();
        }
        argument = function.argument;
        operands.add(function.results);
      }
    }
    return argument == null || operands.contains(null)
        ? Optional.empty()
        : Optional.of(new Function(argument, OpEvaluator.evaluate(node.op(), operands).getFirst()));
  }

  private Optional<Function> of(Value value) {
    return graph
        .definition(value)
        .flatMap(this::of)
        .or(
            () ->
                value.type().element().isByte() && value.type().shape().equals(shape)
                    ? Optional.of(Function.identity(value))
                    : Optional.empty());
  }

  /** Returns a constant that is the same for all elements, or null. */
  private static Tensor scalar(Tensor constant) {
    return constant.size() == 1 ? constant.reshaped(Shape.SCALAR) : null;
  }
}
