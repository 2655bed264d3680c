package io.partita.passes.schedule.legalize;

import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Contraction;
import io.partita.ir.op.IntegerNetwork;
import io.partita.ir.op.Op;
import io.partita.passes.rewrite.Match;
import io.partita.passes.rewrite.Pattern;
import io.partita.passes.rewrite.RewriteRule;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * {@code f(i32(x)) -> f(x)} for products, convolutions and requantizations, which compute in 32
 * bits or more for operands of any type.
 */
final class ReadNarrow implements RewriteRule {
  @Override
  public Class<? extends Op> root() {
    return Op.class;
  }

  @Override
  public Pattern pattern() {
    return Pattern.either(Pattern.operand(0, Narrow.WIDENED), Pattern.operand(1, Narrow.WIDENED));
  }

  @Override
  public Optional<Value> apply(Node node, Match match, GraphEditor graph) {
    List<Value> operands = graph.operands(node);
    return switch (node.op()) {
      case IntegerNetwork.Requantize requantize ->
          narrow(operands, true, false, graph).map(each -> graph.add(node.op(), each));
      case Contraction contraction -> contraction(node, operands, graph);
      case Op other -> Optional.empty();
    };
  }

  /** Narrows both operands if there is a kernel, or else one. */
  private static Optional<Value> contraction(Node node, List<Value> operands, GraphEditor graph) {
    for (int sides = 3; sides > 0; sides--) {
      Optional<List<Value>> changed =
          operands.size() < 2
              ? Optional.empty()
              : narrow(operands, (sides & 1) != 0, (sides & 2) != 0, graph)
                  .filter(each -> hasKernel(node.op(), each));
      if (changed.isPresent()) {
        return changed.map(each -> graph.add(node.op(), each));
      }
    }
    return Optional.empty();
  }

  private static boolean hasKernel(Op op, List<Value> operands) {
    return KernelTypes.hasKernel(
        op, operands.get(0).type().element(), operands.get(1).type().element());
  }

  private static Optional<List<Value>> narrow(
      List<Value> operands, boolean first, boolean second, GraphEditor graph) {
    List<Value> changed = new ArrayList<>(operands);
    for (int i = 0; i < 2; i++) {
      if (i == 0 ? first : second) {
        Optional<Value> source = Narrow.source(operands.get(i), graph);
        if (source.isEmpty()) {
          return Optional.empty();
        }
        changed.set(i, source.get());
      }
    }
    return Optional.of(changed);
  }
}
