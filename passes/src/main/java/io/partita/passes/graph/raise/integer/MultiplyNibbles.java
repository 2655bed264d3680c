package io.partita.passes.graph.raise.integer;

import io.partita.ir.function.BinaryFunction;
import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Contraction.NibbleMatMul;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Op;
import io.partita.ir.op.Quantized.Dequantize;
import io.partita.ir.op.Structured.Linear;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.Dim;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import io.partita.passes.graph.raise.DequantizedBytes;
import io.partita.passes.rewrite.Match;
import io.partita.passes.rewrite.Pattern;
import io.partita.passes.rewrite.RewriteRule;
import java.util.Collections;
import java.util.Optional;

/**
 * {@code linear(dequantize(x), dequantize(w), b) -> (nibble_matmul(x, w) - zero Σ w) scale + b},
 * where w has 4 bits and a scale for each group of rows of a column. The sums of a group are exact.
 */
final class MultiplyNibbles implements RewriteRule {
  @Override
  public Class<? extends Op> root() {
    return Linear.class;
  }

  @Override
  public Pattern pattern() {
    return Pattern.operand(0, Pattern.result(Dequantize.class, op -> op.to() == ElementType.F32));
  }

  /** Whether this rule replaces the linear. */
  static boolean matches(Node node, GraphEditor graph) {
    return node.op() instanceof Linear linear
        && DequantizedBytes.input(node, graph).isPresent()
        && NibbleWeight.of(graph.operand(node, 1), linear.transposed(), graph).isPresent();
  }

  @Override
  public Optional<Value> apply(Node node, Match match, GraphEditor graph) {
    Linear linear = (Linear) node.op();
    DequantizedBytes x = DequantizedBytes.input(node, graph).orElse(null);
    NibbleWeight weight =
        NibbleWeight.of(graph.operand(node, 1), linear.transposed(), graph).orElse(null);
    if (x == null || weight == null) {
      return Optional.empty();
    }
    Value sums =
        graph.add(
            new NibbleMatMul(),
            x.integers(),
            graph.constant(weight.codes()),
            graph.constant(weight.storedScale()));
    Value result = columns(sums, weight.columns(), graph);
    if (x.zero() != 0) {
      Value correction = graph.constant(weight.correction(x.zero()));
      result = binary(BinaryFunction.ADD, result, correction, graph);
    }
    Value scale = graph.constant(Tensor.scalar(ElementType.F32, x.scale()));
    result = binary(BinaryFunction.MUL, result, scale, graph);
    return Optional.of(
        linear.bias() ? binary(BinaryFunction.ADD, result, graph.operand(node, 2), graph) : result);
  }

  /** Leaves out columns that only fill the last panel. */
  private static Value columns(Value sums, long columns, GraphEditor graph) {
    Shape shape = sums.type().shape();
    int last = shape.rank() - 1;
    if (shape.dim(last).is(columns)) {
      return sums;
    }
    return graph.add(
        new Movement.Slice(
            Collections.nCopies(shape.rank(), Dim.ZERO),
            shape.with(last, Dim.of(columns)).dims(),
            Collections.nCopies(shape.rank(), 1L)),
        sums);
  }

  private static Value binary(BinaryFunction function, Value left, Value right, GraphEditor graph) {
    return graph.add(new Elementwise.Binary(function), left, right);
  }
}
