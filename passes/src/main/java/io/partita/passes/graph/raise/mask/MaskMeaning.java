package io.partita.passes.graph.raise.mask;

import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Value;
import io.partita.ir.type.Dim;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The meaning of an attention mask.
 *
 * @param causal whether it hides keys after the position of the query
 * @param offset the position of the first query, if causal or windowed
 * @param window if positive, it hides keys at this distance or farther before the query
 * @param padding tensors that hide keys where they are zero at {@code [batch, key]}
 * @param hidden the bias of hidden scores; minus infinity for a boolean mask
 * @param reason why the mask has no such meaning; empty if it has
 */
public record MaskMeaning(
    boolean causal, Dim offset, long window, List<Value> padding, double hidden, String reason) {
  private static final int QUERY = 2;
  private static final int KEY = 3;

  /** Analyses a mask of scores of shape {@code [batch, heads, seq, keys]}. */
  public static MaskMeaning of(Value mask, Shape scores, GraphEditor graph) {
    Optional<MaskMeaning> constant =
        graph.constant(mask).flatMap(data -> ConstantMask.meaning(data, scores));
    if (constant.isPresent()) {
      return constant.get();
    }
    List<Dim> extents = scores.dims();
    Shape shape = mask.type().shape();
    List<Affine> index = new ArrayList<>();
    for (int axis = 4 - shape.rank(); axis < 4; axis++) {
      boolean isOne = shape.dim(axis - 4 + shape.rank()).is(1);
      index.add(isOne ? Affine.constant(Dim.ZERO, 4) : Affine.index(axis, 4));
    }
    Meaning meaning = new Reading(graph, extents).at(mask, index);
    return mask.type().element() == ElementType.BOOL
        ? hiding(meaning, Double.NEGATIVE_INFINITY, scores)
        : additive(meaning, scores);
  }

  private static MaskMeaning additive(Meaning meaning, Shape scores) {
    if (meaning instanceof Meaning.Number(double value) && value == 0) {
      return hiding(new Meaning.Truth(true), Double.NEGATIVE_INFINITY, scores);
    }
    if (meaning instanceof Meaning.Choice(Meaning condition, Meaning then, Meaning otherwise)) {
      if (number(then) == 0 && number(otherwise) < 0) {
        return hiding(condition, number(otherwise), scores);
      }
      if (number(otherwise) == 0 && number(then) < 0) {
        return hiding(new Logic(scores.dims()).not(condition), number(then), scores);
      }
    }
    return unknown(
        meaning instanceof Meaning.Unknown(String reason)
            ? reason
            : "the mask adds a value that is known only at run time");
  }

  private static double number(Meaning meaning) {
    return switch (meaning) {
      case Meaning.Number(double value) -> value;
      case Affine affine when affine.isConstant() && affine.constant().isStatic() ->
          affine.constant().value();
      case Meaning other -> Double.NaN;
    };
  }

  static MaskMeaning unknown(String reason) {
    return new MaskMeaning(false, Dim.ZERO, 0, List.of(), 0, reason);
  }

  private static MaskMeaning hiding(Meaning visible, double hidden, Shape scores) {
    List<Value> padding = new ArrayList<>();
    Dim offset = null;
    Dim reach = null;
    if (visible instanceof Meaning.Truth(boolean value)) {
      return value
          ? new MaskMeaning(false, Dim.ZERO, 0, padding, hidden, "")
          : unknown("the mask hides all keys");
    }
    for (Meaning part : Logic.parts(visible)) {
      if (part instanceof Meaning.AtMostZero(Affine difference) && isPair(difference, -1, 1)) {
        offset = difference.constant().times(Dim.of(-1));
      } else if (part instanceof Meaning.AtMostZero(Affine difference)
          && isPair(difference, 1, -1)) {
        reach = difference.constant().times(Dim.of(-1)).plus(1);
      } else if (part instanceof Meaning.Lookup lookup && isPadding(lookup)) {
        padding.add(lookup.source());
      } else {
        return unknown(describe(part));
      }
    }
    return windowed(offset, reach, padding, hidden, scores);
  }

  /** Returns the meaning with {@code i - j < reach}, a window of {@code reach + offset}. */
  private static MaskMeaning windowed(
      Dim offset, Dim reach, List<Value> padding, double hidden, Shape scores) {
    if (reach == null) {
      return new MaskMeaning(
          offset != null, offset == null ? Dim.ZERO : offset, 0, padding, hidden, "");
    }
    Dim first = offset == null ? scores.dim(KEY).minus(scores.dim(QUERY)) : offset;
    Dim window = reach.plus(first);
    if (!window.isStatic() || window.value() < 1 || offset == null && !scores.dim(QUERY).is(1)) {
      return unknown("a window without a causal mask");
    }
    return new MaskMeaning(true, first, window.value(), padding, hidden, "");
  }

  private static String describe(Meaning part) {
    return switch (part) {
      case Meaning.Unknown(String reason) -> reason;
      case Meaning.Lookup lookup -> "the mask reads " + lookup.source().name();
      case Meaning other -> "the mask compares values other than positions of queries and keys";
    };
  }

  /** {@code i} the query's and {@code j} the key's coefficient; one of them is 0 for one query. */
  private static boolean isPair(Affine difference, int i, int j) {
    return difference.coefficients().get(0).is(0)
        && difference.coefficients().get(1).is(0)
        && difference.coefficients().get(KEY).is(j)
        && (difference.coefficients().get(QUERY).is(i)
            || difference.coefficients().get(QUERY).is(0));
  }

  private static boolean isPadding(Meaning.Lookup lookup) {
    Shape shape = lookup.source().type().shape();
    Affine key = Affine.index(KEY, 4);
    return shape.rank() >= 1
        && lookup.index().getLast().equals(key)
        && lookup.index().subList(0, shape.rank() - 1).stream()
            .allMatch(place -> place.isConstant() || place.equals(Affine.index(0, 4)));
  }

  /** Whether each query has a visible key, so that the value of hidden scores doesn't matter. */
  public boolean everyQuerySeesAKey(Shape scores) {
    return padding.isEmpty()
        && offset.isAtLeast(0)
        && (window == 0 || scores.dim(KEY).minus(scores.dim(QUERY)).minus(offset).isAtLeast(0));
  }
}
