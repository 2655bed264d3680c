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
 * A shape that a value and what it is computed from may have. Patterns look upwards only: from a
 * value to its definition and operands.
 */
@FunctionalInterface
public interface Pattern {
  /** The match extended by what this pattern captures, or none. */
  Optional<Match> match(Value value, GraphEditor graph, Match match);

  default Optional<Match> match(Value value, GraphEditor graph) {
    return match(graph.resolve(value), graph, Match.EMPTY);
  }

  static Pattern any() {
    return (value, graph, match) -> Optional.of(match);
  }

  /** Any value; where the capture stands twice, the same one. */
  static Pattern any(Capture<Value> capture) {
    return (value, graph, match) -> match.with(capture, value);
  }

  /** A constant whose data passes the test. */
  static Pattern constant(Predicate<Tensor> test) {
    return (value, graph, match) ->
        graph.constant(value).filter(test).isPresent() ? Optional.of(match) : Optional.empty();
  }

  /** Any constant. */
  static Pattern constant(Capture<Value> capture) {
    return constant(data -> true).as(capture);
  }

  /**
   * A constant of which every element equals {@code number}, but for its rounding to the element
   * type.
   */
  static Pattern number(double number) {
    return constant(data -> isNear(data, number));
  }

  /** A constant of one element, or of equal elements. */
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
   * The only result of a node whose operation is a {@code type}, and whose operands match in order.
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

  /** The first result of any operation that passes the test, whatever its operands are. */
  static <O extends Op> Pattern result(Class<O> type, Predicate<O> test) {
    return (value, graph, match) ->
        graph
            .definition(value)
            .map(Node::op)
            .filter(type::isInstance)
            .filter(op -> test.test(type.cast(op)))
            .map(op -> match);
  }

  /** A result of a node of which one operand matches. */
  static Pattern operand(int index, Pattern operand) {
    return (value, graph, match) ->
        graph
            .definition(value)
            .filter(node -> index < node.operands().size())
            .flatMap(node -> operand.match(graph.operand(node, index), graph, match));
  }

  /** A result of a node that has operands, all of which match. */
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

  /** A result of a node of which at least one operand passes the test. */
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

  /** A binary operation with its operands in either order. */
  static Pattern commutative(BinaryFunction function, Pattern left, Pattern right) {
    return either(binary(function, left, right), binary(function, right, left));
  }

  static Pattern add(Pattern left, Pattern right) {
    return commutative(BinaryFunction.ADD, left, right);
  }

  static Pattern mul(Pattern left, Pattern right) {
    return commutative(BinaryFunction.MUL, left, right);
  }

  /** {@code factor * operand}, also written as a division. */
  static Pattern scaled(double factor, Pattern operand) {
    return either(mul(operand, number(factor)), div(operand, number(1 / factor)));
  }

  /** {@code factor * left * right} in any order and grouping. */
  static Pattern scaledProduct(double factor, Pattern left, Pattern right) {
    return either(
        mul(scaled(factor, left), right),
        mul(left, scaled(factor, right)),
        scaled(factor, mul(left, right)));
  }

  /** {@code operand * operand}, also written as a power. */
  static Pattern square(Pattern operand) {
    return either(binary(BinaryFunction.POW, operand, number(2)), mul(operand, operand));
  }

  static Pattern sub(Pattern left, Pattern right) {
    return binary(BinaryFunction.SUB, left, right);
  }

  static Pattern div(Pattern left, Pattern right) {
    return binary(BinaryFunction.DIV, left, right);
  }

  /** The first alternative that matches; later ones aren't tried again when the rest fails. */
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

  /** Through any chain of operations that pass the test and have one operand. */
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

  /** Both patterns on one value. */
  default Pattern and(Pattern other) {
    return (value, graph, match) ->
        this.match(value, graph, match).flatMap(found -> other.match(value, graph, found));
  }

  /** This pattern, keeping the value that it matches. */
  default Pattern as(Capture<Value> capture) {
    return (value, graph, match) ->
        this.match(value, graph, match).flatMap(result -> result.with(capture, value));
  }

  /** This pattern on a value that is read once only. */
  default Pattern once() {
    return (value, graph, match) ->
        graph.uses(value) == 1 ? this.match(value, graph, match) : Optional.empty();
  }

  /** This pattern where a test on the value holds too. */
  default Pattern where(Predicate<Value> test) {
    return (value, graph, match) ->
        test.test(value) ? this.match(value, graph, match) : Optional.empty();
  }

  /** This pattern where a test on what it captured holds too. */
  default Pattern whereMatch(BiPredicate<Match, GraphEditor> test) {
    return (value, graph, match) ->
        this.match(value, graph, match).filter(result -> test.test(result, graph));
  }

  /** This pattern on a value of the same type as what it captured there. */
  default Pattern ofTypeOf(Capture<Value> capture) {
    return (value, graph, match) ->
        this.match(value, graph, match)
            .filter(result -> result.get(capture).type().equals(value.type()));
  }

  /** Matches a list of values, one pattern each. */
  static Optional<Match> all(
      List<Value> values, GraphEditor graph, Match match, List<Pattern> patterns) {
    Optional<Match> result = Optional.of(match);
    for (int i = 0; i < patterns.size() && result.isPresent(); i++) {
      result = patterns.get(i).match(values.get(i), graph, result.get());
    }
    return values.size() == patterns.size() ? result : Optional.empty();
  }
}
