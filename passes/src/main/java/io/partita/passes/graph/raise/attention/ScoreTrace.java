package io.partita.passes.graph.raise.attention;

import io.partita.ir.function.BinaryFunction;
import io.partita.ir.function.UnaryFunction;
import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Contraction;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Op;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import io.partita.passes.graph.raise.Parameters;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;

/**
 * Walks from the operand of a softmax up to the product of queries and keys, through scales, masks,
 * a soft cap and conversions in any order.
 */
final class ScoreTrace {
  private static final int MAX_STEPS = 16;

  private final GraphEditor graph;
  private String reason = "";

  ScoreTrace(GraphEditor graph) {
    this.graph = graph;
  }

  /** Returns why {@link #trace} failed. */
  String reason() {
    return reason;
  }

  /**
   * The operations on the way from the softmax to a value.
   *
   * @param factor the product of the scales after the value, up to the soft cap if there is one
   * @param cap the soft cap; 0 before a tanh was found
   */
  private record Path(
      double factor,
      double cap,
      List<MaskTerm> masks,
      List<RowScale> rows,
      Shape leading,
      int steps) {
    Path scaled(double by) {
      return new Path(factor * by, cap, masks, rows, leading, steps + 1);
    }

    Path scaled(RowScale row) {
      List<RowScale> more = new ArrayList<>(rows);
      more.add(row);
      return new Path(factor, cap, masks, more, leading, steps + 1);
    }

    /** Whether a mask may be added here: only a multiplication by a number may follow. */
    boolean takesMasks() {
      return cap == 0 && rows.isEmpty();
    }

    Path masked(MaskTerm mask) {
      List<MaskTerm> more = new ArrayList<>(masks);
      more.add(mask);
      return new Path(factor, cap, more, rows, leading, steps + 1);
    }

    Path floored(double lowest) {
      return masked(new MaskTerm.Floor(lowest));
    }

    Path capped() {
      return new Path(1, factor, masks, rows, leading, steps + 1);
    }

    Path seen(Shape shape) {
      Shape both = shape.rank() == 4 && leading == null ? shape.range(0, 2) : leading;
      return new Path(factor, cap, masks, rows, both, steps + 1);
    }
  }

  Optional<Scores> trace(Value operand) {
    return trace(operand, new Path(1, 0, List.of(), List.of(), null, 0));
  }

  private Optional<Scores> trace(Value value, Path before) {
    Value at = graph.resolve(value);
    Node node = graph.definition(at).orElse(null);
    if (node == null) {
      return fail("the softmax's operand is the input " + at.name());
    }
    if (before.steps() > MAX_STEPS) {
      return fail("more than " + MAX_STEPS + " operations between product and softmax");
    }
    Path path = before.seen(at.type().shape());
    return switch (node.op()) {
      case Contraction.MatMul product -> product(node, path);
      case Elementwise.Cast cast when isFloat(graph.operand(node, 0)) ->
          trace(graph.operand(node, 0), path);
      case Movement.Reshape reshape -> reshaped(node, path);
      case Elementwise.Binary binary -> binary(node, binary.function(), path);
      case Elementwise.Select select -> select(node, path);
      case Elementwise.Unary(UnaryFunction function)
          when function == UnaryFunction.TANH && path.takesMasks() ->
          trace(graph.operand(node, 0), path.capped());
      case Op other -> fail(node.op().mnemonic() + " between the product and the softmax");
    };
  }

  private Optional<Scores> fail(String why) {
    reason = why;
    return Optional.empty();
  }

  private static boolean isFloat(Value value) {
    return value.type().element().isFloat();
  }

  private Optional<Scores> product(Node node, Path path) {
    Value left = graph.operand(node, 0);
    Value right = graph.operand(node, 1);
    if (left.type().rank() < 3 || right.type().rank() != left.type().rank()) {
      return fail("the product isn't batched: " + left.type() + " and " + right.type());
    }
    double scale = path.cap() == 0 ? path.factor() : path.factor() * path.cap();
    return Optional.of(
        new Scores(left, right, scale, path.cap(), path.masks(), path.rows(), path.leading()));
  }

  /** Between {@code [batch*heads, seq, keys]} and {@code [batch, heads, seq, keys]}. */
  private Optional<Scores> reshaped(Node node, Path path) {
    Shape from = graph.operand(node, 0).type().shape();
    Shape to = node.result().type().shape();
    boolean keepsRows =
        from.rank() >= 3
            && to.rank() >= 3
            && from.range(from.rank() - 2, from.rank()).equals(to.range(to.rank() - 2, to.rank()));
    return keepsRows
        ? trace(graph.operand(node, 0), path)
        : fail("a reshape of the scores other than of batch and heads");
  }

  private Optional<Scores> binary(Node node, BinaryFunction function, Path path) {
    Value left = graph.operand(node, 0);
    Value right = graph.operand(node, 1);
    OptionalDouble leftNumber = Parameters.uniform(left, graph);
    OptionalDouble rightNumber = Parameters.uniform(right, graph);
    Shape shape = node.result().type().shape();
    ElementType element = node.result().type().element();
    if (function == BinaryFunction.MUL && leftNumber.isPresent()) {
      return trace(right, path.scaled(leftNumber.getAsDouble()));
    }
    if (function == BinaryFunction.MUL && rightNumber.isPresent()) {
      return trace(left, path.scaled(rightNumber.getAsDouble()));
    }
    if (function == BinaryFunction.DIV && rightNumber.isPresent()) {
      return trace(left, path.scaled(1 / rightNumber.getAsDouble()));
    }
    if (function == BinaryFunction.ADD && path.takesMasks()) {
      Optional<Scores> scores = side(left, right, path, shape, path.factor());
      return scores.isPresent() ? scores : side(right, left, path, shape, path.factor());
    }
    if (function == BinaryFunction.SUB && path.takesMasks()) {
      return side(left, right, path, shape, -path.factor());
    }
    if (function == BinaryFunction.MAX && isFloor(leftNumber, path, element)) {
      return trace(right, path.floored(leftNumber.getAsDouble()));
    }
    if (function == BinaryFunction.MAX && isFloor(rightNumber, path, element)) {
      return trace(left, path.floored(rightNumber.getAsDouble()));
    }
    if (function == BinaryFunction.MUL || function == BinaryFunction.DIV) {
      Optional<Scores> scores = byRow(left, right, function, node, path);
      return scores.isEmpty() && function == BinaryFunction.MUL
          ? byRow(right, left, function, node, path)
          : scores;
    }
    return fail(function.text() + " between the product and the softmax");
  }

  /**
   * Scores times a factor that is the same for all keys of a query, such as a temperature per head.
   */
  private Optional<Scores> byRow(
      Value scores, Value factor, BinaryFunction function, Node node, Path path) {
    Shape shape = node.result().type().shape();
    boolean isSameForAllKeys = factor.type().rank() == 0 || factor.type().shape().fromEnd(0).is(1);
    return isSameForAllKeys && scores.type().shape().equals(shape)
        ? trace(scores, path.scaled(new RowScale(factor, function, shape)))
        : fail("the scale of the scores depends on the key");
  }

  private static boolean isFloor(OptionalDouble number, Path path, ElementType element) {
    return number.isPresent()
        && path.factor() == 1
        && path.takesMasks()
        && MaskTerm.swallowsScores(number.getAsDouble(), element);
  }

  /** The scores on one side of a sum, the mask on the other. */
  private Optional<Scores> side(Value scores, Value mask, Path path, Shape shape, double factor) {
    if (!scores.type().shape().equals(shape)) {
      return fail("the sum is larger than the scores");
    }
    return trace(scores, path.masked(new MaskTerm.Additive(mask, factor, shape)));
  }

  private Optional<Scores> select(Node node, Path path) {
    Value condition = graph.operand(node, 0);
    Shape shape = node.result().type().shape();
    for (boolean exchanged : new boolean[] {false, true}) {
      Value scores = graph.operand(node, exchanged ? 2 : 1);
      OptionalDouble other = Parameters.uniform(graph.operand(node, exchanged ? 1 : 2), graph);
      if (other.isPresent()
          && scores.type().shape().equals(shape)
          && path.takesMasks()
          && other.getAsDouble() * path.factor() <= MaskTerm.HIDDEN
          && condition.type().element() == ElementType.BOOL) {
        double hidden = other.getAsDouble() * path.factor();
        return trace(
            scores, path.masked(new MaskTerm.Replacing(condition, exchanged, hidden, shape)));
      }
    }
    return fail("a selection that doesn't replace hidden scores by a large negative number");
  }
}
