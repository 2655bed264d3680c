package io.partita.passes.graph.raise.mask;

import io.partita.ir.type.Dim;
import io.partita.ir.type.Shape;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Computes indices before a reshape from those after it. */
final class Unflattening {
  private Unflattening() {}

  /**
   * Returns the indices in {@code from} of the element that has the indices {@code index} in {@code
   * to}.
   */
  static Optional<List<Affine>> index(Shape to, Shape from, List<Affine> index, List<Dim> extents) {
    Affine flat = Affine.constant(Dim.ZERO, extents.size());
    Dim stride = Dim.ONE;
    for (int axis = to.rank() - 1; axis >= 0; axis--) {
      flat = flat.plus(index.get(axis).times(stride));
      stride = stride.times(to.dim(axis));
    }
    ArrayDeque<Affine> places = new ArrayDeque<>();
    Affine rest = flat;
    for (int axis = from.rank() - 1; axis >= 0; axis--) {
      boolean isLast = from.range(0, axis).dims().stream().allMatch(dim -> dim.is(1));
      Split split =
          isLast && !from.dim(axis).is(1)
              ? new Split(Affine.constant(Dim.ZERO, extents.size()), rest)
              : split(rest, from.dim(axis), extents.size());
      if (!isLast && !isInside(split.remainder(), from.dim(axis), extents)) {
        return Optional.empty();
      }
      places.addFirst(split.remainder());
      rest = split.quotient();
    }
    return Optional.of(new ArrayList<>(places));
  }

  private static boolean isInside(Affine place, Dim extent, List<Dim> extents) {
    Logic logic = new Logic(extents);
    return logic.isAtLeast(place, Dim.ZERO) && logic.isBelow(place, extent);
  }

  private record Split(Affine quotient, Affine remainder) {}

  /** Adds each term to the quotient if it is divisible, else to the remainder. */
  private static Split split(Affine value, Dim divisor, int indices) {
    Affine quotient = Affine.constant(Dim.ZERO, indices);
    Affine remainder = Affine.constant(Dim.ZERO, indices);
    Dim whole = value.constant().dividedExactlyBy(divisor);
    if (whole != null) {
      quotient = quotient.plus(whole);
    } else if (value.constant().isStatic() && divisor.isStatic()) {
      quotient = quotient.plus(Dim.of(Math.floorDiv(value.constant().value(), divisor.value())));
      remainder = remainder.plus(Dim.of(Math.floorMod(value.constant().value(), divisor.value())));
    } else {
      remainder = remainder.plus(value.constant());
    }
    for (int i = 0; i < indices; i++) {
      Affine term = Affine.index(i, indices);
      Dim coefficient = value.coefficients().get(i);
      Dim part = coefficient.dividedExactlyBy(divisor);
      if (part != null) {
        quotient = quotient.plus(term.times(part));
      } else {
        remainder = remainder.plus(term.times(coefficient));
      }
    }
    return new Split(quotient, remainder);
  }
}
