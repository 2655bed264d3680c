package io.partita.passes.graph.simplify;

import io.partita.ir.eval.OpEvaluator;
import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Communication;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Op;
import io.partita.ir.op.Quantized;
import io.partita.ir.op.Source;
import io.partita.ir.op.Structured;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.Dim;
import io.partita.ir.type.TensorType;
import io.partita.passes.rewrite.Match;
import io.partita.passes.rewrite.Pattern;
import io.partita.passes.rewrite.RewriteRule;
import java.util.List;
import java.util.Optional;

/**
 * {@code f(constants) -> constant}, where the result is small: weights remain mapped from their
 * file. A sync of a constant is kept, since constants are on all devices. Any operation may be
 * folded, but few have only constant operands, so {@link #apply} checks the operation first.
 *
 * @param dequantizing whether quantized matrices are folded as well, which loses their integers
 */
record FoldConstants(boolean dequantizing) implements RewriteRule {
  /** The largest number of elements of a folded result. */
  private static final long MAX_ELEMENTS = 1 << 16;

  @Override
  public Class<? extends Op> root() {
    return Op.class;
  }

  @Override
  public Pattern pattern() {
    return Pattern.any();
  }

  @Override
  public Optional<Value> apply(Node node, Match match, GraphEditor graph) {
    if (node.op() instanceof Source.Constant
        || node.op() instanceof Communication
        || isOpen(node.op())
        || !dequantizing && isQuantizedMatrix(node)
        || node.results().size() != 1
        || !isSmall(node.result().type())) {
      return Optional.empty();
    }
    List<Value> operands = graph.operands(node);
    if (!operands.stream()
        .allMatch(value -> graph.constant(value).isPresent() && isSmall(value.type()))) {
      return Optional.empty();
    }
    List<Tensor> data =
        operands.stream().map(value -> graph.constant(value).orElseThrow()).toList();
    return Optional.of(graph.constant(OpEvaluator.evaluate(node.op(), data).getFirst()));
  }

  /** Whether a symbol occurs in an attribute, although it occurs in no type. */
  private static boolean isOpen(Op op) {
    return op instanceof Source.Extent(Dim size) && !size.isStatic()
        || op instanceof Movement.Slice slice && !slice.starts().stream().allMatch(Dim::isStatic)
        || op instanceof Structured.Attention attention && !attention.offset().isStatic();
  }

  private static boolean isQuantizedMatrix(Node node) {
    return node.op() instanceof Quantized.Dequantize && node.result().type().rank() > 1;
  }

  private static boolean isSmall(TensorType type) {
    return type.isStatic() && type.shape().elements() <= MAX_ELEMENTS;
  }
}
