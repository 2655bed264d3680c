package io.partita.passes.graph.raise.integer;

import io.partita.ir.eval.OpEvaluator;
import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.IntegerNetwork;
import io.partita.ir.op.IntegerNetwork.Lookup;
import io.partita.ir.op.IntegerNetwork.Requantize;
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
import java.util.stream.Stream;

/**
 * The nodes above a value as functions of the first bytes that they can be computed from. Results
 * of a requantization to wider integers are bytes too, if its limits are.
 */
final class Tabulation {
  /** The most nodes of a function. */
  private static final int MAX_NODES = 32;

  /** The least nodes of a function of integers for which it takes less time to load a table. */
  private static final int LEAST_NODES = 3;

  /**
   * A function of bytes.
   *
   * @param argument bytes, or wider integers with the values of bytes
   * @param domain the type of the bytes
   * @param results its result for each byte, in order
   */
  private record Function(Value argument, ElementType domain, Tensor results) {
    static Function identity(Value argument, ElementType domain) {
      return new Function(argument, domain, Lookup.arguments(domain, argument.type().element()));
    }

    boolean isIdentity() {
      return equals(identity(argument, domain));
    }

    boolean isWide() {
      return argument.type().element() != domain;
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
    Tabulation tabulation = new Tabulation(graph, node.result().type().shape());
    return tabulation.of(node).filter(tabulation::isWhole).map(found -> value(found, graph));
  }

  /**
   * The same for a requantization to integers of any type that ends a function of several nodes.
   */
  static Optional<Value> lookup(Node node, Requantize op, GraphEditor graph) {
    Tabulation tabulation = new Tabulation(graph, node.result().type().shape());
    ElementType bytes = bytes(op).orElseThrow();
    return tabulation
        .of(node)
        .filter(found -> tabulation.known.size() >= LEAST_NODES && tabulation.isWhole(found))
        .map(
            found ->
                found.isIdentity() || op.to() == bytes
                    ? value(found, graph)
                    : graph.add(new Elementwise.Cast(op.to()), value(as(found, bytes), graph)));
  }

  private static Function as(Function function, ElementType element) {
    Tensor results = function.results;
    TensorType type = new TensorType(element, results.shape());
    return new Function(function.argument, function.domain, Tensor.ofLongs(type, results.longs()));
  }

  private static Value value(Function function, GraphEditor graph) {
    if (function.isIdentity()) {
      return function.argument;
    }
    Value bytes = function.argument;
    if (function.isWide()) {
      Node node = graph.definition(bytes).orElseThrow();
      Requantize op = (Requantize) node.op();
      bytes =
          graph.add(
              new Requantize(op.shift(), op.low(), op.high(), function.domain),
              graph.operands(node));
    }
    return graph.add(new Lookup(), bytes, graph.constant(function.results));
  }

  /** Whether nothing else reads an argument that would be computed again as bytes. */
  private boolean isWhole(Function function) {
    long reads =
        known.entrySet().stream()
            .filter(entry -> entry.getValue().isPresent())
            .flatMap(entry -> graph.operands(entry.getKey()).stream())
            .filter(operand -> operand == function.argument)
            .count();
    return !function.isWide() || reads == graph.uses(function.argument);
  }

  /** Returns the type of bytes that has all numbers between the limits of a requantization. */
  static Optional<ElementType> bytes(Requantize op) {
    return Stream.of(ElementType.I8, ElementType.U8)
        .filter(type -> op.low() >= type.minimum() && op.high() <= type.maximum())
        .findFirst();
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
          case IntegerNetwork op -> op.isElementwise();
          case Op other -> false;
        };
    if (!isElementwise || !node.result().type().shape().equals(shape)) {
      return Optional.empty();
    }
    Value argument = null;
    ElementType domain = null;
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
        domain = function.domain;
        operands.add(function.results);
      }
    }
    return argument == null || operands.contains(null)
        ? Optional.empty()
        : Optional.of(
            new Function(argument, domain, OpEvaluator.evaluate(node.op(), operands).getFirst()));
  }

  private Optional<Function> of(Value value) {
    return graph
        .definition(value)
        .flatMap(this::of)
        .or(() -> domain(value).map(domain -> Function.identity(value, domain)));
  }

  /** Returns the type of bytes that has all numbers of a value. */
  private Optional<ElementType> domain(Value value) {
    if (!value.type().shape().equals(shape)) {
      return Optional.empty();
    }
    return value.type().element().isByte()
        ? Optional.of(value.type().element())
        : graph
            .definition(value)
            .flatMap(node -> node.op() instanceof Requantize op ? bytes(op) : Optional.empty());
  }

  /** Returns a constant that is the same for all elements, or null. */
  private static Tensor scalar(Tensor constant) {
    return constant.size() == 1 ? constant.reshaped(Shape.SCALAR) : null;
  }
}
