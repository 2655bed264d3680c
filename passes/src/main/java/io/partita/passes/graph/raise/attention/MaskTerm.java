package io.partita.passes.graph.raise.attention;

import io.partita.ir.function.BinaryFunction;
import io.partita.ir.function.UnaryFunction;
import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Elementwise;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.Dim;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;
import java.util.List;
import java.util.Optional;

/** An operation between scores and softmax that hides or weights keys. */
sealed interface MaskTerm {
  /** The bound below which a score's exponential is zero in f32, unless its whole row is as low. */
  double HIDDEN = -1e4;

  /** Returns the lowest finite number of an element type. */
  static double lowest(ElementType element) {
    return switch (element) {
      case F16 -> -65504;
      case F64 -> -Double.MAX_VALUE;
      case BF16, F32, I64, I32, I16, I8, I4, U64, U32, U16, U8, U4, BOOL -> -Float.MAX_VALUE;
    };
  }

  /** Whether scores are negligible in a sum with the number. */
  static boolean swallowsScores(double number, ElementType element) {
    return number <= Math.max(-1e30, 0.99 * lowest(element));
  }

  /**
   * {@code scores + factor * value}.
   *
   * @param applied the shape of the scores at this operation
   */
  record Additive(Value value, double factor, Shape applied) implements MaskTerm {}

  /**
   * {@code value ? scores : hidden}, or with the branches exchanged.
   *
   * @param hidden at most {@link #HIDDEN}
   * @param applied the shape of the scores at this operation
   */
  record Replacing(Value value, boolean exchanged, double hidden, Shape applied)
      implements MaskTerm {}

  /** {@code max(scores, lowest)}, where only hidden scores are as low. */
  record Floor(double lowest) implements MaskTerm {}

  /**
   * Joins terms to an additive or boolean mask of scores {@code [batch, heads, seq, keys]}; empty
   * if they can't be joined.
   *
   * @param terms at least one term, the nearest to the softmax first
   * @param leading batch and heads
   */
  static Optional<Value> join(
      List<MaskTerm> terms, Shape leading, ElementType element, GraphEditor graph) {
    Value joined = null;
    for (MaskTerm term : terms.reversed()) {
      if (term instanceof Floor(double lowest)) {
        joined = joined == null ? null : floored(joined, lowest, element, graph);
        continue;
      }
      joined =
          joined != null
                  && term instanceof Replacing replacing
                  && swallowsScores(replacing.hidden(), element)
                  && replacing.hidden() != Double.NEGATIVE_INFINITY
              ? replaced(joined, replacing, leading, element, graph)
              : joined(joined, tensor(term, leading, element, graph), element, graph);
      if (joined == null) {
        return Optional.empty();
      }
    }
    return Optional.ofNullable(joined);
  }

  private static Value joined(Value joined, Value next, ElementType element, GraphEditor graph) {
    return joined == null || next == null ? next : both(joined, next, element, graph);
  }

  /**
   * Hides keys that may already be hidden. The sum of both numbers would be infinite, and so hide
   * keys of a row that has no other ones, which then all have the same weight in the model.
   */
  private static Value replaced(
      Value joined, Replacing term, Shape leading, ElementType element, GraphEditor graph) {
    Value visible = visible(term, leading, graph);
    if (visible == null || Shape.broadcast(joined.type().shape(), visible.type().shape()) == null) {
      return null;
    }
    Value before =
        joined.type().element() == ElementType.BOOL
            ? additive(joined, Double.NEGATIVE_INFINITY, element, graph)
            : joined;
    Value hidden = graph.constant(Tensor.scalar(element, term.hidden()));
    return graph.add(new Elementwise.Select(), visible, before, hidden);
  }

  /** Returns the keys that a term doesn't hide, or null. */
  private static Value visible(Replacing term, Shape leading, GraphEditor graph) {
    Value mask = LeadingDimensions.regrouped(term.value(), term.applied(), leading, graph);
    return mask == null || !term.exchanged()
        ? mask
        : graph.add(new Elementwise.Unary(UnaryFunction.NOT), mask);
  }

  private static Value tensor(
      MaskTerm term, Shape leading, ElementType element, GraphEditor graph) {
    return switch (term) {
      case Additive(Value value, double factor, Shape applied) -> {
        Value mask = LeadingDimensions.regrouped(value, applied, leading, graph);
        if (mask != null && factor != 1) {
          Value scale = graph.constant(Tensor.scalar(mask.type().element(), factor));
          mask = graph.add(new Elementwise.Binary(BinaryFunction.MUL), mask, scale);
        }
        yield mask == null || mask.type().element() == element
            ? mask
            : graph.add(new Elementwise.Cast(element), mask);
      }
      case Replacing replacing -> {
        Value visible = visible(replacing, leading, graph);
        yield visible == null || replacing.hidden() == Double.NEGATIVE_INFINITY
            ? visible
            : additive(visible, replacing.hidden(), element, graph);
      }
      case Floor floor -> null;
    };
  }

  private static Value additive(
      Value visible, double hidden, ElementType element, GraphEditor graph) {
    return graph.add(
        new Elementwise.Select(),
        visible,
        graph.constant(Tensor.scalar(element, 0)),
        graph.constant(Tensor.scalar(element, hidden)));
  }

  /**
   * {@code max(s + mask, lowest) = s + max(mask, lowest)}, because scores are negligible beside
   * {@code lowest}.
   */
  private static Value floored(Value mask, double lowest, ElementType element, GraphEditor graph) {
    if (mask.type().element() == ElementType.BOOL) {
      return additive(mask, lowest, element, graph);
    }
    return LowestMask.of(mask, graph) >= lowest
        ? mask
        : graph.add(
            new Elementwise.Binary(BinaryFunction.MAX),
            mask,
            graph.constant(Tensor.scalar(element, lowest)));
  }

  private static Value both(Value left, Value right, ElementType element, GraphEditor graph) {
    if (Shape.broadcast(left.type().shape(), right.type().shape()) == null) {
      return null;
    }
    boolean isLeftBoolean = left.type().element() == ElementType.BOOL;
    boolean isRightBoolean = right.type().element() == ElementType.BOOL;
    if (isLeftBoolean && isRightBoolean) {
      return graph.add(new Elementwise.Binary(BinaryFunction.AND), left, right);
    }
    if (isLeftBoolean || isRightBoolean) {
      Value visible = isLeftBoolean ? left : right;
      Value hidden =
          graph.constant(
              Tensor.filled(new TensorType(element, Shape.of(Dim.ONE)), Double.NEGATIVE_INFINITY));
      return graph.add(new Elementwise.Select(), visible, isLeftBoolean ? right : left, hidden);
    }
    return graph.add(new Elementwise.Binary(BinaryFunction.ADD), left, right);
  }
}
