package io.partita.passes.schedule.legalize;

import io.partita.ir.function.BinaryFunction;
import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
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
 * {@code f(x) -> i16(f(i32(x)))} for integers without kernels; the result wraps to the same value.
 * Unsigned 32-bit integers are computed in 64 bits, whose sums and products wrap to the same value.
 * The widened types depend on the operation, so {@link #apply} examines both.
 */
final class WidenElements implements RewriteRule {
  private static final Set<ElementType> OF_ONE =
      Set.of(ElementType.I16, ElementType.U16, ElementType.U8, ElementType.U32);
  private static final Set<ElementType> OF_TWO =
      Set.of(ElementType.I16, ElementType.U16, ElementType.U32);
  private static final Set<ElementType> CUMULATED =
      Set.of(
          ElementType.I8,
          ElementType.U8,
          ElementType.I16,
          ElementType.U16,
          ElementType.U32,
          ElementType.U64);

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
    if (node.operands().isEmpty()) {
      return Optional.empty();
    }
    ElementType element = graph.operand(node, 0).type().element();
    boolean widens =
        switch (node.op()) {
          case Elementwise.Unary unary -> OF_ONE.contains(element);
          case Elementwise.Binary(var function) ->
              OF_TWO.contains(element) && function != BinaryFunction.POW;
          case Reduction.Reduce reduce -> OF_ONE.contains(element);
          case Reduction.ArgReduce reduce -> OF_ONE.contains(element);
          case Reduction.TopK top -> OF_ONE.contains(element);
          case Reduction.Cumulative cumulative -> CUMULATED.contains(element);
          case Op other -> false;
        };
    if (!widens) {
      return Optional.empty();
    }
    Terms terms = new Terms(graph);
    ElementType wide = wide(element);
    List<Value> operands =
        graph.operands(node).stream().map(value -> terms.cast(value, wide)).toList();
    List<Value> results = graph.addNode(node.op(), operands).results();
    for (int i = 1; i < results.size(); i++) {
      graph.replace(node.results().get(i), results.get(i));
    }
    ElementType result = node.results().getFirst().type().element();
    return Optional.of(terms.cast(results.getFirst(), result));
  }

  private static ElementType wide(ElementType element) {
    return element.bits() < Integer.SIZE ? ElementType.I32 : ElementType.I64;
  }
}
