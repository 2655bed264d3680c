package io.partita.passes.schedule.legalize;

import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Contraction.Convolution;
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
 * Replaces a convolution over three or more spatial dimensions by one over all but the first: the
 * elements of a window along the first one become channels, and its positions become images.
 */
final class SplitConvolution implements RewriteRule {
  private static final int MAX = 2;

  @Override
  public Class<? extends Op> root() {
    return Convolution.class;
  }

  @Override
  public Pattern pattern() {
    return Pattern.result(Convolution.class, op -> op.window().spatialRank() > MAX);
  }

  @Override
  public Optional<Value> apply(Node node, Match match, GraphEditor graph) {
    Convolution convolution = (Convolution) node.op();
    Window window = convolution.window();
    Shape result = node.result().type().shape();
    if (result.elements() == 0) {
      return Optional.empty();
    }
    Terms terms = new Terms(graph);
    Shape weight = graph.operand(node, 1).type().shape();
    long kernel = window.kernel().getFirst();
    long depth = kernel * weight.extent(1);
    List<Value> operands = new ArrayList<>(graph.operands(node));
    operands.set(0, images(terms, convolution, operands.get(0), weight.extent(1), result));
    operands.set(1, weights(terms, operands.get(1), depth));
    Window rest = rest(window);
    Value sums =
        graph.add(
            new Convolution(rest, convolution.groups(), convolution.bias(), convolution.result()),
            operands);
    long images = result.extent(0);
    long places = result.extent(2);
    long plane = result.range(3, result.rank()).elements();
    Shape cut = Shape.of(images, places, result.extent(1), plane);
    Value arranged = terms.transposed(terms.reshaped(sums, cut), 0, 2, 1, 3);
    return Optional.of(terms.reshaped(arranged, result));
  }

  /** {@code [n · places, g · kernel · c/g, rest…]}. */
  private static Value images(
      Terms terms, Convolution convolution, Value data, long channels, Shape result) {
    Window window = convolution.window();
    Shape shape = data.type().shape();
    Shape rest = shape.range(3, shape.rank());
    List<Long> low = new ArrayList<>(java.util.Collections.nCopies(shape.rank(), 0L));
    List<Long> high = new ArrayList<>(low);
    low.set(2, window.low().getFirst());
    high.set(2, window.high().getFirst());
    Value padded = terms.padded(data, low, high);
    long images = shape.extent(0);
    long groups = convolution.groups();
    long places = result.extent(2);
    List<Value> slices = new ArrayList<>();
    for (long element = 0; element < window.kernel().getFirst(); element++) {
      long first = element * window.dilations().getFirst();
      Value slice = terms.slice(padded, 2, first, places, window.strides().getFirst());
      slices.add(
          terms.reshaped(slice, Shape.of(images, groups, channels, places, rest.elements())));
    }
    long depth = channels * slices.size();
    Value arranged = terms.transposed(terms.concat(2, slices), 0, 3, 1, 2, 4);
    List<Dim> dims = new ArrayList<>(List.of(Dim.of(images * places), Dim.of(groups * depth)));
    dims.addAll(rest.dims());
    return terms.reshaped(arranged, new Shape(dims));
  }

  /** {@code [f, kernel · c/g, rest…]}. */
  private static Value weights(Terms terms, Value weight, long depth) {
    Shape shape = weight.type().shape();
    Shape rest = shape.range(3, shape.rank());
    Shape cut = Shape.of(shape.extent(0), shape.extent(1), shape.extent(2), rest.elements());
    Value arranged = terms.transposed(terms.reshaped(weight, cut), 0, 2, 1, 3);
    List<Dim> dims = new ArrayList<>(List.of(shape.dim(0), Dim.of(depth)));
    dims.addAll(rest.dims());
    return terms.reshaped(arranged, new Shape(dims));
  }

  /** Returns the window along all but the first dimension. */
  static Window rest(Window window) {
    int rank = window.spatialRank();
    return new Window(
        window.kernel().subList(1, rank),
        window.strides().subList(1, rank),
        window.dilations().subList(1, rank),
        window.low().subList(1, rank),
        window.high().subList(1, rank));
  }
}
