package io.partita.passes.schedule.legalize;

import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Contraction.Convolution;
import io.partita.ir.op.Contraction.TransposedConvolution;
import io.partita.ir.op.Op;
import io.partita.ir.op.Window;
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
 * Replaces a transposed convolution by a convolution of the data, with zeros between its elements,
 * with the reversed weight.
 */
final class StuffZeros implements RewriteRule {
  @Override
  public Class<? extends Op> root() {
    return TransposedConvolution.class;
  }

  @Override
  public Pattern pattern() {
    return Pattern.operand(0, Pattern.any().where(StuffZeros::hasElements))
        .where(StuffZeros::hasElements);
  }

  @Override
  public Optional<Value> apply(Node node, Match match, GraphEditor graph) {
    TransposedConvolution transposed = (TransposedConvolution) node.op();
    List<Value> operands = new ArrayList<>(graph.operands(node));
    Terms terms = new Terms(graph);
    Window window = transposed.window();
    operands.set(0, stuffed(terms, operands.get(0), window));
    operands.set(1, turned(terms, operands.get(1), transposed.groups()));
    List<Long> ones = Collections.nCopies(window.spatialRank(), 1L);
    List<Long> zeros = Collections.nCopies(window.spatialRank(), 0L);
    Convolution convolution =
        new Convolution(
            new Window(window.kernel(), ones, window.dilations(), zeros, zeros),
            transposed.groups(),
            transposed.bias(),
            node.result().type().element());
    return Optional.of(graph.add(convolution, operands));
  }

  private static boolean hasElements(Value value) {
    return value.type().shape().elements() > 0;
  }

  private static Value stuffed(Terms terms, Value data, Window window) {
    Value stuffed = data;
    int rank = data.type().rank();
    List<Long> low = new ArrayList<>(Collections.nCopies(rank, 0L));
    List<Long> high = new ArrayList<>(low);
    for (int spatial = 0; spatial < window.spatialRank(); spatial++) {
      int axis = spatial + 2;
      long step = window.strides().get(spatial);
      Shape shape = stuffed.type().shape();
      if (step > 1) {
        Shape cut =
            Shape.of(
                shape.range(0, axis).elements(),
                shape.extent(axis),
                1,
                shape.range(axis + 1, rank).elements());
        Value apart =
            terms.padded(
                terms.reshaped(stuffed, cut),
                List.of(0L, 0L, 0L, 0L),
                List.of(0L, 0L, step - 1, 0L));
        stuffed = terms.reshaped(apart, shape.with(axis, Dim.of(shape.extent(axis) * step)));
      }
      long around = window.reach(spatial) - 1;
      low.set(axis, around - window.low().get(spatial));
      high.set(axis, around - window.high().get(spatial) - (step - 1));
    }
    return terms.padded(stuffed, low, high);
  }

  /** {@code [c, f/g, kernel…] -> [f, c/g, kernel…]}, with reversed kernels. */
  private static Value turned(Terms terms, Value weight, long groups) {
    Value turned = weight;
    Shape shape = weight.type().shape();
    for (int axis = 2; axis < shape.rank(); axis++) {
      long extent = shape.extent(axis);
      turned = extent == 1 ? turned : terms.slice(turned, axis, extent - 1, extent, -1);
    }
    long channels = shape.extent(0) / groups;
    long filters = shape.extent(1);
    long kernel = shape.range(2, shape.rank()).elements();
    Shape cut = Shape.of(groups, channels, filters, kernel);
    Value arranged = terms.transposed(terms.reshaped(turned, cut), 0, 2, 1, 3);
    List<Dim> dims = new ArrayList<>(List.of(Dim.of(groups * filters), Dim.of(channels)));
    dims.addAll(shape.range(2, shape.rank()).dims());
    return terms.reshaped(arranged, new Shape(dims));
  }
}
