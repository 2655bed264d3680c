package io.partita.passes.rewrite;

import io.partita.ir.function.BinaryFunction;
import io.partita.ir.function.UnaryFunction;
import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.Op;
import io.partita.ir.tensor.Tensor;
import java.util.List;
import java.util.Optional;
import java.util.function.BiPredicate;
import java.util.function.Predicate;

/**
 * A pattern of a value and the nodes from which it is computed. Patterns look upwards only: from a
 * value to its definition and operands.
 */
@FunctionalInterface
public interface Pattern {
  /** Returns the match extended by the captures of this pattern, or empty. */
  Optional<Match> match(Value value, GraphEditor graph, Match match);

  default Optional<Match> match(Value value, GraphEditor graph) {
    return match(graph.resolve(value), graph, Match.EMPTY);
  }

  static Pattern any() {
    return (value, graph, match) -> Optional.of(match);
  }

  /** Matches any value; a capture that occurs twice must match the same one. */
  static Pattern any(Capture<Value> capture) {
    return (value, graph, match) -> match.with(capture, value);
  }

  /** Matches a constant whose data passes a test. */
  static Pattern constant(Predicate<Tensor> test) {
    return (value, graph, match) ->
        graph.constant(value).filter(test).isPresent() ? Optional.of(match) : Optional.empty();
  }

  /** Matches any constant. */
  static Pattern constant(Capture<Value> capture) {
    return constant(data -> true).as(capture);
  }

  /** Matches a constant whose elements all equal {@code number}, rounded to the element type. */
  static Pattern number(double number) {
    return constant(data -> isNear(data, number));
  }

  /** Matches a constant of one element or of equal elements. */
  static Pattern uniform(Capture<Value> capture) {
    return constant(data -> data.size() > 0 && data.isFilledWith(data.getDouble(0))).as(capture);
  }

  private static boolean isNear(Tensor data, double number) {
    if (data.size() == 0 || data.size() > 1 && !data.isFilledWith(data.getDouble(0))) {
      return false;
    }
    double relative =
        switch (data.element()) {
          case BF16 -> 0x1p-8;
          case F16 -> 0x1p-10;
          case F32, F64, I64, I32, I16, I8, I4, U64, U32, U16, U8, U4, BOOL -> 1e-6;
        };
    return Math.abs(data.getDouble(0) - number) <= relative * Math.abs(number);
  }

  /**
   * Matches the only result of a node with an operation of type {@code type} whose operands match
   * in order.
   */
  static <O extends Op> Pattern op(Class<O> type, Pattern... operands) {
    return op(type, op -> true, operands);
  }

  static <O extends Op> Pattern op(Class<O> type, Predicate<O> test, Pattern... operands) {
    return (value, graph, match) -> {
      Node node = graph.definition(value).orElse(null);
      if (node == null
          || !type.isInstance(node.op())
          || node.operands().size() != operands.length
          || node.results().size() != 1
          || !test.test(type.cast(node.op()))) {
        return Optional.empty();
      }
      Optional<Match> result = Optional.of(match);
      for (int i = 0; i < operands.length && result.isPresent(); i++) {
        result = operands[i].match(graph.operand(node, i), graph, result.get());
      }
      return result;
    };
  }

  /** Matches the first result of an operation that passes a test, with any operands. */
  static <O extends Op> Pattern result(Class<O> type, Predicate<O> test) {
    return (value, graph, match) ->
        graph
            .definition(value)
            .map(Node::op)
            .filter(type::isInstance)
            .filter(op -> test.test(type.cast(op)))
            .map(op -> match);
  }

  /** Matches a result of a node, one of whose operands matches. */
  static Pattern operand(int index, Pattern operand) {
    return (value, graph, match) ->
        graph
            .definition(value)
            .filter(node -> index < node.operands().size())
            .flatMap(node -> operand.match(graph.operand(node, index), graph, match));
  }

  /** Matches a result of a node that has operands, all of which match. */
  static Pattern operands(Pattern each) {
    return (value, graph, match) -> {
      List<Value> operands = graph.definition(value).map(graph::operands).orElse(List.of());
      Optional<Match> result = operands.isEmpty() ? Optional.empty() : Optional.of(match);
      for (Value operand : operands) {
        result = result.flatMap(found -> each.match(operand, graph, found));
      }
      return result;
    };
  }

  /** Matches a result of a node with at least one operand that passes a test. */
  static Pattern someOperand(Predicate<Value> test) {
    return (value, graph, match) ->
        graph.definition(value).map(graph::operands).orElse(List.of()).stream().anyMatch(test)
            ? Optional.of(match)
            : Optional.empty();
  }

  static Pattern unary(UnaryFunction function, Pattern operand) {
    return op(Elementwise.Unary.class, op -> op.function() == function, operand);
  }

  static Pattern binary(BinaryFunction function, Pattern left, Pattern right) {
    return op(Elementwise.Binary.class, op -> op.function() == function, left, right);
  }

  /** Matches a binary operation with its operands in either order. */
  static Pattern commutative(BinaryFunction function, Pattern left, Pattern right) {
    return either(binary(function, left, right), binary(function, right, left));
  }

  static Pattern add(Pattern left, Pattern right) {
    return commutative(BinaryFunction.ADD, left, right);
  }

  static Pattern mul(Pattern left, Pattern right) {
    return commutative(BinaryFunction.MUL, left, right);
  }

  /** Matches {@code factor * operand}, also in the form of a division. */
  static Pattern scaled(double factor, Pattern operand) {
    return either(mul(operand, number(factor)), div(operand, number(1 / factor)));
  }

  /** Matches {@code factor * left * right} in any order and grouping. */
  static Pattern scaledProduct(double factor, Pattern left, Pattern right) {
    return either(
        mul(scaled(factor, left), right),
        mul(left, scaled(factor, right)),
        scaled(factor, mul(left, right)));
  }

  /** Matches {@code operand * operand}, also in the form of a power. */
  static Pattern square(Pattern operand) {
    return either(binary(BinaryFunction.POW, operand, number(2)), mul(operand, operand));
  }

  static Pattern sub(Pattern left, Pattern right) {
    return binary(BinaryFunction.SUB, left, right);
  }

  static Pattern div(Pattern left, Pattern right) {
    return binary(BinaryFunction.DIV, left, right);
  }

  /** Takes the first alternative that matches; there is no backtracking to later ones. */
  static Pattern either(Pattern... alternatives) {
    return (value, graph, match) -> {
      for (Pattern alternative : alternatives) {
        Optional<Match> result = alternative.match(value, graph, match);
        if (result.isPresent()) {
          return result;
        }
      }
      return Optional.empty();
    };
  }

  /** Looks through any chain of unary operations that pass a test. */
  static Pattern through(Predicate<Op> skipped, Pattern inner) {
    return (value, graph, match) -> {
      Value at = value;
      while (graph.definition(at).orElse(null) instanceof Node node
          && node.operands().size() == 1
          && skipped.test(node.op())) {
        at = graph.operand(node, 0);
      }
      return inner.match(at, graph, match);
    };
  }

  /** Matches both patterns on one value. */
  default Pattern and(Pattern other) {
    return (value, graph, match) ->
        this.match(value, graph, match).flatMap(found -> other.match(value, graph, found));
  }

  /** Returns this pattern, which also captures the value. */
  default Pattern as(Capture<Value> capture) {
    return (value, graph, match) ->
        this.match(value, graph, match).flatMap(result -> result.with(capture, value));
  }

  /** Returns this pattern for values with a single use. */
  default Pattern once() {
    return (value, graph, match) ->
        graph.uses(value) == 1 ? this.match(value, graph, match) : Optional.empty();
  }

  /** Returns this pattern with a test of the value. */
  default Pattern where(Predicate<Value> test) {
    return (value, graph, match) ->
        test.test(value) ? this.match(value, graph, match) : Optional.empty();
  }

  /** Returns this pattern with a test of its captures. */
  default Pattern whereMatch(BiPredicate<Match, GraphEditor> test) {
    return (value, graph, match) ->
        this.match(value, graph, match).filter(result -> test.test(result, graph));
  }

  /** Returns this pattern for values of the same type as a capture. */
  default Pattern ofTypeOf(Capture<Value> capture) {
    return (value, graph, match) ->
        this.match(value, graph, match)
            .filter(result -> result.get(capture).type().equals(value.type()));
  }

  /** Matches a list of values, each with its own pattern. */
  static Optional<Match> all(
      List<Value> values, GraphEditor graph, Match match, List<Pattern> patterns) {
    Optional<Match> result = Optional.of(match);
    for (int i = 0; i < patterns.size() && result.isPresent(); i++) {
      result = patterns.get(i).match(values.get(i), graph, result.get());
    }
    return values.size() == patterns.size() ? result : Optional.empty();
  }
}
