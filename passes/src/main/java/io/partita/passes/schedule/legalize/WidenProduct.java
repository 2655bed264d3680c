package io.partita.passes.schedule.legalize;

import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Contraction;
import io.partita.ir.op.Op;
import io.partita.ir.type.ElementType;
import io.partita.passes.rewrite.Match;
import io.partita.passes.rewrite.Pattern;
import io.partita.passes.rewrite.RewriteRule;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** {@code x × w -> i32(x) × i32(w)}, or only one of them, if there is no kernel for the types. */
final class WidenProduct implements RewriteRule {
  @Override
  public Class<? extends Op> root() {
    return Contraction.class;
  }

  @Override
  public Pattern pattern() {
    return Pattern.result(
            Contraction.class,
            op -> op instanceof Contraction.MatMul || op instanceof Contraction.Convolution)
        .where(value -> value.type().element() == ElementType.I32);
  }

  @Override
  public Optional<Value> apply(Node node, Match match, GraphEditor graph) {
    List<Value> operands = graph.operands(node);
    if (hasKernel(node.op(), operands)) {
      return Optional.empty();
    }
    List<Value> left = new ArrayList<>(operands);
    left.set(0, Narrow.widened(operands.get(0), graph));
    if (hasKernel(node.op(), left)) {
      return Optional.of(graph.add(node.op(), left));
    }
    left.set(1, Narrow.widened(operands.get(1), graph));
    return hasKernel(node.op(), left) ? Optional.of(graph.add(node.op(), left)) : Optional.empty();
  }

  private static boolean hasKernel(Op op, List<Value> operands) {
    return KernelTypes.hasKernel(
        op, operands.get(0).type().element(), operands.get(1).type().element());
  }
}
