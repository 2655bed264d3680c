package io.partita.passes.graph.raise.linear;

import static io.partita.passes.rewrite.Pattern.any;
import static io.partita.passes.rewrite.Pattern.either;
import static io.partita.passes.rewrite.Pattern.op;

import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Op;
import io.partita.ir.op.Structured;
import io.partita.ir.type.Dim;
import io.partita.ir.type.Shape;
import io.partita.passes.rewrite.Capture;
import io.partita.passes.rewrite.Match;
import io.partita.passes.rewrite.Pattern;
import io.partita.passes.rewrite.RewriteRule;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;

/**
 * {@code slice(reshape(linear(x, w))) -> reshape(linear(x, slice of w))}: splits fused projections
 * into one linear each. The reshape may split the features into heads, of each of which the slice
 * takes a part.
 */
final class SplitFusedLinear implements RewriteRule {
  private static final Capture<Value> LINEAR = Capture.of("linear");
  private static final Pattern FUSED =
      any(LINEAR)
          .where(value -> !value.isInput() && value.definition().op() instanceof Structured.Linear);
  private static final Pattern PATTERN =
      op(Movement.Slice.class, either(FUSED, op(Movement.Reshape.class, FUSED)));

  @Override
  public Class<? extends Op> root() {
    return Movement.Slice.class;
  }

  @Override
  public Pattern pattern() {
    return PATTERN;
  }

  @Override
  public Optional<Value> apply(Node node, Match match, GraphEditor graph) {
    Movement.Slice slice = (Movement.Slice) node.op();
    Value fused = match.get(LINEAR);
    Shape shape = graph.operand(node, 0).type().shape();
    Optional<Integer> outer = outerAxes(shape, fused.type().shape(), slice);
    if (outer.isEmpty()) {
      return Optional.empty();
    }
    int from = outer.get();
    Cut cut =
        new Cut(
            shape.range(from, shape.rank()),
            slice.starts().subList(from, shape.rank()),
            slice.sizes().subList(from, shape.rank()),
            slice.steps().subList(from, shape.rank()));
    Structured.Linear linear = (Structured.Linear) fused.definition().op();
    List<Value> operands = new ArrayList<>(graph.operands(fused.definition()));
    operands.set(1, cut.of(operands.get(1), linear.transposed() ? 0 : 1, graph));
    if (linear.bias()) {
      operands.set(2, cut.of(operands.get(2), 0, graph));
    }
    Value part = graph.add(linear, operands);
    return Optional.of(graph.add(new Movement.Reshape(new Shape(slice.sizes())), part));
  }

  /**
   * Returns the number of axes of the sliced value before the features; empty if one of them is
   * sliced.
   */
  private static Optional<Integer> outerAxes(Shape cut, Shape fused, Movement.Slice slice) {
    Dim rows = fused.range(0, fused.rank() - 1).size();
    Dim product = Dim.ONE;
    int axis = 0;
    while (axis < cut.rank()
        && (!product.equals(rows) || cut.dim(axis).is(1) && fused.fromEnd(0).isAtLeast(2))) {
      product = product.times(cut.dim(axis));
      axis++;
    }
    boolean isWhole =
        product.equals(rows)
            && axis < cut.rank()
            && slice.sizes().subList(0, axis).equals(cut.dims().subList(0, axis))
            && !slice.sizes().subList(axis, cut.rank()).equals(cut.dims().subList(axis, cut.rank()))
            && cut.range(axis, cut.rank()).isStatic()
            && slice.starts().subList(axis, cut.rank()).stream().allMatch(Dim::isStatic)
            && slice.sizes().subList(axis, cut.rank()).stream()
                .allMatch(size -> size.isStatic() && size.value() > 0);
    return isWhole ? Optional.of(axis) : Optional.empty();
  }

  /** A slice of features that are reshaped to {@code shape}. */
  private record Cut(Shape shape, List<Dim> starts, List<Dim> sizes, List<Long> steps) {
    /** Returns the part of {@code weight}, whose features are along {@code axis}. */
    Value of(Value weight, int axis, GraphEditor graph) {
      Shape whole = weight.type().shape();
      Shape outer = whole.range(0, axis);
      Shape inner = whole.range(axis + 1, whole.rank());
      Value seen = reshape(weight, outer.concat(shape).concat(inner), graph);
      List<Dim> from = new ArrayList<>(Collections.nCopies(axis, Dim.ZERO));
      from.addAll(starts);
      from.addAll(Collections.nCopies(inner.rank(), Dim.ZERO));
      List<Long> strides = new ArrayList<>(Collections.nCopies(axis, 1L));
      strides.addAll(steps);
      strides.addAll(Collections.nCopies(inner.rank(), 1L));
      Shape part = new Shape(sizes);
      Value cut =
          graph.add(
              new Movement.Slice(from, outer.concat(part).concat(inner).dims(), strides), seen);
      return reshape(cut, outer.concat(Shape.of(part.size())).concat(inner), graph);
    }

    private static Value reshape(Value value, Shape to, GraphEditor graph) {
      return value.type().shape().equals(to) ? value : graph.add(new Movement.Reshape(to), value);
    }
  }
}
