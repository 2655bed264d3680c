package io.partita.passes.raise.attention;

import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Value;
import io.partita.ir.op.BinaryFunction;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.Movement;
import io.partita.ir.op.UnaryFunction;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.Dim;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import java.util.Optional;

/** One thing that hides keys between the scores and their softmax. */
sealed interface MaskTerm {
  /** Below this a score's exponential is zero in f32, unless all of its row are as low. */
  double HIDDEN = -1e4;

  Value value();

  /** The rank of the scores that this is applied to: 3 where batch and heads are one dimension. */
  int rank();

  /** {@code scores + factor * value}. */
  record Additive(Value value, double factor, int rank) implements MaskTerm {}

  /**
   * {@code value ? scores : hidden}, or with the branches exchanged.
   *
   * @param hidden at most {@link #HIDDEN}
   */
  record Replacing(Value value, boolean exchanged, double hidden, int rank) implements MaskTerm {}

  /** The mask as an additive or boolean tensor for scores {@code [batch, heads, seq, keys]}. */
  default Optional<Value> toMask(Shape leading, ElementType element, GraphEditor graph) {
    return split(leading, graph).map(mask -> computed(mask, element, graph));
  }

  private Value computed(Value mask, ElementType element, GraphEditor graph) {
    return switch (this) {
      case Additive additive -> {
        Value scaled = mask;
        if (additive.factor() != 1) {
          Value factor = graph.constant(Tensor.scalar(mask.type().element(), additive.factor()));
          scaled = graph.add(new Elementwise.Binary(BinaryFunction.MUL), mask, factor);
        }
        yield scaled.type().element() == element
            ? scaled
            : graph.add(new Elementwise.Cast(element), scaled);
      }
      case Replacing replacing -> {
        Value visible =
            replacing.exchanged()
                ? graph.add(new Elementwise.Unary(UnaryFunction.NOT), mask)
                : mask;
        yield replacing.hidden() == Double.NEGATIVE_INFINITY
            ? visible
            : graph.add(
                new Elementwise.Select(),
                visible,
                graph.constant(Tensor.scalar(element, 0)),
                graph.constant(Tensor.scalar(element, replacing.hidden())));
      }
    };
  }

  /** The value with batch and heads apart, where they were one dimension. */
  private Optional<Value> split(Shape leading, GraphEditor graph) {
    Shape shape = value().type().shape();
    if (rank() == 4 || shape.rank() < 3 || shape.dim(0).is(1)) {
      return shape.rank() <= 4 ? Optional.of(value()) : Optional.empty();
    }
    if (shape.rank() != 3 || !shape.dim(0).equals(leading.size())) {
      return Optional.empty();
    }
    Shape apart = leading.concat(shape.range(1, 3));
    return Optional.of(graph.add(new Movement.Reshape(apart), value()));
  }

  /** Both masks at once; none when they can't be joined. */
  static Optional<Value> both(Value left, Value right, ElementType element, GraphEditor graph) {
    if (Shape.broadcast(left.type().shape(), right.type().shape()) == null) {
      return Optional.empty();
    }
    boolean isLeftBoolean = left.type().element() == ElementType.BOOL;
    boolean isRightBoolean = right.type().element() == ElementType.BOOL;
    if (isLeftBoolean && isRightBoolean) {
      return Optional.of(graph.add(new Elementwise.Binary(BinaryFunction.AND), left, right));
    }
    if (isLeftBoolean || isRightBoolean) {
      Value visible = isLeftBoolean ? left : right;
      Value hidden =
          graph.constant(
              Tensor.filled(
                  new io.partita.ir.type.TensorType(element, Shape.of(Dim.ONE)),
                  Double.NEGATIVE_INFINITY));
      return Optional.of(
          graph.add(new Elementwise.Select(), visible, isLeftBoolean ? right : left, hidden));
    }
    return Optional.of(graph.add(new Elementwise.Binary(BinaryFunction.ADD), left, right));
  }
}
