package io.partita.passes.graph.raise.integer;

import io.partita.ir.function.BinaryFunction;
import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Contraction.MatMul;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.Op;
import io.partita.ir.op.Quantized.Dequantize;
import io.partita.ir.op.Structured.Linear;
import io.partita.ir.type.ElementType;
import io.partita.passes.graph.raise.DequantizedBytes;
import io.partita.passes.rewrite.Match;
import io.partita.passes.rewrite.Pattern;
import io.partita.passes.rewrite.RewriteRule;
import java.util.Optional;

/**
 * {@code linear(dequantize(x), dequantize(w), b) -> f32(x w - zero Σ w) scale + b}: the product of
 * bytes with sums in i32, which are exact. The scale is the product of both scales in f32, as in
 * ONNX Runtime's {@code MatMulIntegerToFloat}.
 */
final class MultiplyIntegers implements RewriteRule {
  /** The largest magnitude of a byte less its zero point, times that of a weight. */
  private static final int LARGEST_PRODUCT = 255 * 255;

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
        && IntegerWeight.of(graph.operand(node, 1), linear.transposed(), graph)
            .filter(MultiplyIntegers::fits)
            .isPresent();
  }

  private static boolean fits(IntegerWeight weight) {
    return (long) weight.rows() * LARGEST_PRODUCT <= Integer.MAX_VALUE;
  }

  @Override
  public Optional<Value> apply(Node node, Match match, GraphEditor graph) {
    Linear linear = (Linear) node.op();
    DequantizedBytes x = DequantizedBytes.input(node, graph).orElse(null);
    IntegerWeight weight =
        IntegerWeight.of(graph.operand(node, 1), linear.transposed(), graph)
            .filter(MultiplyIntegers::fits)
            .orElse(null);
    if (x == null || weight == null) {
      return Optional.empty();
    }
    Value matrix = weight.source().orElseGet(() -> graph.constant(weight.integers()));
    Value sums = graph.add(new MatMul(ElementType.I32), x.integers(), matrix);
    if (x.zero() != 0) {
      sums = add(sums, graph.constant(weight.correction(x.zero())), graph);
    }
    Value real = graph.add(new Elementwise.Cast(ElementType.F32), sums);
    Value scale = graph.constant(weight.scaledBy(x.scale()));
    Value result = graph.add(new Elementwise.Binary(BinaryFunction.MUL), real, scale);
    return Optional.of(linear.bias() ? add(result, graph.operand(node, 2), graph) : result);
  }

  private static Value add(Value left, Value right, GraphEditor graph) {
    return graph.add(new Elementwise.Binary(BinaryFunction.ADD), left, right);
  }
}
