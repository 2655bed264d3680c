package io.partita.passes.graph.raise.mask;

import io.partita.ir.type.Dim;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;

/**
 * {@code constant + Σ coefficients[v] * v} over the indices v of a mask.
 *
 * @param coefficients the coefficient of each index
 */
record Affine(Dim constant, List<Dim> coefficients) implements Meaning {
  static Affine constant(Dim constant, int indices) {
    return new Affine(constant, Collections.nCopies(indices, Dim.ZERO));
  }

  static Affine index(int index, int indices) {
    List<Dim> coefficients = new ArrayList<>(Collections.nCopies(indices, Dim.ZERO));
    coefficients.set(index, Dim.ONE);
    return new Affine(Dim.ZERO, coefficients);
  }

  Affine plus(Affine other) {
    List<Dim> sums = new ArrayList<>();
    for (int i = 0; i < coefficients.size(); i++) {
      sums.add(coefficients.get(i).plus(other.coefficients.get(i)));
    }
    return new Affine(constant.plus(other.constant), sums);
  }

  Affine plus(Dim other) {
    return new Affine(constant.plus(other), coefficients);
  }

  Affine times(Dim factor) {
    return new Affine(
        constant.times(factor), coefficients.stream().map(c -> c.times(factor)).toList());
  }

  Affine minus(Affine other) {
    return plus(other.times(Dim.of(-1)));
  }

  boolean isConstant() {
    return coefficients.stream().allMatch(c -> c.equals(Dim.ZERO));
  }

  /** Returns the only index on which it depends; empty if there are several or none. */
  Optional<Integer> onlyIndex() {
    Integer only = null;
    for (int i = 0; i < coefficients.size(); i++) {
      if (!coefficients.get(i).equals(Dim.ZERO)) {
        if (only != null) {
          return Optional.empty();
        }
        only = i;
      }
    }
    return Optional.ofNullable(only);
  }

  /** Returns the formula with an index replaced by a constant. */
  Affine at(int index, Dim place) {
    List<Dim> rest = new ArrayList<>(coefficients);
    Dim coefficient = rest.set(index, Dim.ZERO);
    return new Affine(constant.plus(coefficient.times(place)), rest);
  }

  /**
   * Returns the smallest value for indices from 0 to below {@code extents}; empty if a sign is
   * unknown.
   */
  Optional<Dim> lower(List<Dim> extents) {
    return times(Dim.of(-1)).upper(extents).map(upper -> upper.times(Dim.of(-1)));
  }

  /**
   * Returns the largest value for indices from 0 to below {@code extents}; empty if a sign is
   * unknown.
   */
  Optional<Dim> upper(List<Dim> extents) {
    Dim upper = constant;
    for (int i = 0; i < coefficients.size(); i++) {
      Dim coefficient = coefficients.get(i);
      if (coefficient.isAtLeast(0)) {
        upper = upper.plus(coefficient.times(extents.get(i).plus(-1)));
      } else if (!coefficient.times(Dim.of(-1)).isAtLeast(0)) {
        return Optional.empty();
      }
    }
    return Optional.of(upper);
  }
}
