package io.partita.passes.schedule.legalize;

import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.BinaryFunction;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.Op;
import io.partita.ir.op.Reduction;
import io.partita.ir.type.ElementType;
import io.partita.passes.rewrite.Match;
import io.partita.passes.rewrite.Pattern;
import io.partita.passes.rewrite.RewriteRule;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * {@code f(x) -> i16(f(i32(x)))} for integers of 16 and 8 bits that have no kernels of their own:
 * it wraps to the same.
 */
final class WidenElements implements RewriteRule {
  private static final Set<ElementType> OF_ONE =
      Set.of(ElementType.I16, ElementType.U16, ElementType.U8);
  private static final Set<ElementType> OF_TWO = Set.of(ElementType.I16, ElementType.U16);

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
    if (node.results().size() != 1) {
      return Optional.empty();
    }
    boolean widens =
        switch (node.op()) {
          case Elementwise.Unary unary -> OF_ONE.contains(element(node, graph));
          case Elementwise.Binary(var function) ->
              OF_TWO.contains(element(node, graph)) && !isShift(function);
          case Reduction.Reduce reduce -> OF_ONE.contains(element(node, graph));
          case Reduction.ArgReduce reduce -> OF_ONE.contains(element(node, graph));
          case Op other -> false;
        };
    if (!widens) {
      return Optional.empty();
    }
    List<Value> operands =
        graph.operands(node).stream().map(value -> Narrow.widened(value, graph)).toList();
    Value wide = graph.add(node.op(), operands);
    ElementType result = node.result().type().element();
    return Optional.of(
        wide.type().element() == result ? wide : graph.add(new Elementwise.Cast(result), wide));
  }

  private static ElementType element(Node node, GraphEditor graph) {
    return graph.operand(node, 0).type().element();
  }

  /** By the width or more, a shift gives 0. */
  private static boolean isShift(BinaryFunction function) {
    return function == BinaryFunction.SHIFT_LEFT || function == BinaryFunction.SHIFT_RIGHT;
  }
}
