package io.partita.passes.schedule.legalize;

import io.partita.ir.eval.OpEvaluator;
import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Communication;
import io.partita.ir.op.Op;
import io.partita.ir.op.Source;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.TensorType;
import io.partita.passes.rewrite.Match;
import io.partita.passes.rewrite.Pattern;
import io.partita.passes.rewrite.RewriteRule;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** {@code sum(nothing) -> 0}: folds values that depend on no elements except those of constants. */
final class FoldEmpty implements RewriteRule {
  @Override
  public Class<? extends Op> root() {
    return Op.class;
  }

  @Override
  public Pattern pattern() {
    return Pattern.someOperand(operand -> isEmpty(operand.type()));
  }

  @Override
  public Optional<Value> apply(Node node, Match match, GraphEditor graph) {
    boolean isOther = node.op() instanceof Source || node.op() instanceof Communication;
    if (isOther || node.results().size() != 1 || isEmpty(node.result().type())) {
      return Optional.empty();
    }
    List<Tensor> operands = new ArrayList<>();
    for (Value operand : graph.operands(node)) {
      Optional<Tensor> known =
          isEmpty(operand.type())
              ? Optional.of(Tensor.filled(operand.type(), 0))
              : graph.constant(operand);
      if (known.isEmpty()) {
        return Optional.empty();
      }
      operands.add(known.get());
    }
    return Optional.of(graph.constant(OpEvaluator.evaluate(node.op(), operands).getFirst()));
  }

  private static boolean isEmpty(TensorType type) {
    return type.shape().elements() == 0;
  }
}
