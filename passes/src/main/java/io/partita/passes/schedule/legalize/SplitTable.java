package io.partita.passes.schedule.legalize;

import io.partita.ir.function.BinaryFunction;
import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Op;
import io.partita.ir.type.Dim;
import io.partita.ir.type.Shape;
import io.partita.passes.rewrite.Match;
import io.partita.passes.rewrite.Pattern;
import io.partita.passes.rewrite.RewriteRule;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;

/**
 * {@code gather(x, i) -> select(i < n, gather(x[0:n], i), gather(x[n:], i - n))} for lines that
 * don't fit the working memory. Gathers of rows of constants, which are fetched from a farther
 * memory one by one, and of a single index, which is read beforehand, are kept.
 */
final class SplitTable implements RewriteRule {
  private final LongLines lines;

  SplitTable(LongLines lines) {
    this.lines = lines;
  }

  @Override
  public Class<? extends Op> root() {
    return Movement.class;
  }

  @Override
  public Pattern pattern() {
    return Pattern.result(
        Movement.class,
        op -> op instanceof Movement.Gather || op instanceof Movement.GatherElements);
  }

  @Override
  public Optional<Value> apply(Node node, Match match, GraphEditor graph) {
    return switch (node.op()) {
      case Movement.Gather(int axis)
          when graph.operand(node, 1).type().shape().elements() > 1
              && !(axis == 0 && graph.constant(graph.operand(node, 0)).isPresent()) ->
          split(node, axis, graph);
      case Movement.GatherElements(int axis) -> split(node, axis, graph);
      case Op other -> Optional.empty();
    };
  }

  private Optional<Value> split(Node node, int axis, GraphEditor graph) {
    Value data = graph.operand(node, 0);
    Value indices = graph.operand(node, 1);
    Shape shape = data.type().shape();
    if (shape.elements() == 0 || node.result().type().shape().elements() == 0) {
      return Optional.empty();
    }
    long extent = shape.extent(axis);
    long size = lines.part(shape, axis, LongLines.bytes(data.type().element()));
    if (size == extent) {
      return Optional.empty();
    }
    Terms terms = new Terms(graph);
    Value below = terms.binary(BinaryFunction.LESS, indices, terms.number(indices, 0));
    Value above = terms.binary(BinaryFunction.ADD, indices, terms.number(indices, extent));
    Value places = graph.add(new Elementwise.Select(), below, above, indices);
    Value result = null;
    for (long start = 0; start < extent; start += size) {
      long count = Math.min(size, extent - start);
      Value own = terms.binary(BinaryFunction.SUB, places, terms.number(places, start));
      Value least = terms.binary(BinaryFunction.MAX, own, terms.number(own, 0));
      Value inside = terms.binary(BinaryFunction.MIN, least, terms.number(own, count - 1));
      Value part = graph.add(node.op(), terms.slice(data, axis, start, count), inside);
      if (result == null) {
        result = part;
      } else {
        Value isBehind =
            terms.binary(BinaryFunction.GREATER_OR_EQUAL, places, terms.number(places, start));
        result =
            graph.add(new Elementwise.Select(), broadcasting(terms, isBehind, node), part, result);
      }
    }
    return Optional.of(result);
  }

  /** The dimensions of the indices replace the axis of a gather. */
  private static Value broadcasting(Terms terms, Value condition, Node node) {
    if (!(node.op() instanceof Movement.Gather(int axis))) {
      return condition;
    }
    Shape own = condition.type().shape();
    int behind = node.result().type().rank() - axis - own.rank();
    List<Dim> dims = new ArrayList<>(own.dims());
    dims.addAll(Collections.nCopies(behind, Dim.ONE));
    return terms.reshaped(condition, new Shape(dims));
  }
}
