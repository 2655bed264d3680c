package io.partita.passes.schedule.legalize;

import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Contraction.Pool;
import io.partita.ir.op.Op;
import io.partita.ir.op.Window;
import io.partita.ir.type.Dim;
import io.partita.ir.type.Shape;
import io.partita.passes.rewrite.Match;
import io.partita.passes.rewrite.Pattern;
import io.partita.passes.rewrite.RewriteRule;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Replaces a pooling over three or more spatial dimensions by one over all but the first, and one
 * over the first. All windows have the same number of elements, so that the mean is a mean of
 * means.
 */
final class SplitPool implements RewriteRule {
  private static final int MAX = 2;

  @Override
  public Class<? extends Op> root() {
    return Pool.class;
  }

  @Override
  public Pattern pattern() {
    return Pattern.result(Pool.class, pool -> pool.window().spatialRank() > MAX && !pool.indices());
  }

  @Override
  public Optional<Value> apply(Node node, Match match, GraphEditor graph) {
    Pool pool = (Pool) node.op();
    Window window = pool.window();
    Shape result = node.results().getFirst().type().shape();
    if (result.elements() == 0) {
      return Optional.empty();
    }
    Terms terms = new Terms(graph);
    Value data = graph.operand(node, 0);
    Shape shape = data.type().shape();
    List<Dim> planes = new ArrayList<>(List.of(shape.dim(0), shape.dim(1).times(shape.dim(2))));
    planes.addAll(shape.range(3, shape.rank()).dims());
    Value inner =
        graph.add(of(pool, SplitConvolution.rest(window)), terms.reshaped(data, new Shape(planes)));
    long plane = result.range(3, result.rank()).elements();
    Shape columns = Shape.of(shape.extent(0), shape.extent(1), shape.extent(2), plane);
    Window first =
        new Window(
            List.of(window.kernel().getFirst(), 1L),
            List.of(window.strides().getFirst(), 1L),
            List.of(window.dilations().getFirst(), 1L),
            List.of(window.low().getFirst(), 0L),
            List.of(window.high().getFirst(), 0L));
    Value outer = graph.add(of(pool, first), terms.reshaped(inner, columns));
    return Optional.of(terms.reshaped(outer, result));
  }

  private static Pool of(Pool pool, Window window) {
    return new Pool(pool.largest(), window, pool.roundUp(), pool.countPadding(), false);
  }
}
