package io.partita.frontend.onnx.selection;

import io.partita.ir.type.Dim;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/** An affine function of a position in a mask: {@code Σ factors[j] coordinate[j] + offset}. */
record Affine(List<Dim> factors, Dim offset) {
  Affine {
    factors = List.copyOf(factors);
  }

  static Affine coordinate(int axis, int rank) {
    List<Dim> factors = new ArrayList<>(Collections.nCopies(rank, Dim.ZERO));
    factors.set(axis, Dim.ONE);
    return new Affine(factors, Dim.ZERO);
  }

  static Affine constant(Dim value, int rank) {
    return new Affine(Collections.nCopies(rank, Dim.ZERO), value);
  }

  Affine plus(Affine other) {
    List<Dim> sums = new ArrayList<>();
    for (int j = 0; j < factors.size(); j++) {
      sums.add(factors.get(j).plus(other.factors.get(j)));
    }
    return new Affine(sums, offset.plus(other.offset));
  }

  Affine times(Dim factor) {
    return new Affine(
        factors.stream().map(each -> each.times(factor)).toList(), offset.times(factor));
  }

  boolean isConstant() {
    return factors.stream().allMatch(factor -> factor.is(0));
  }

  /** Returns the axis whose coordinate this is, or -1. */
  int axis() {
    for (int j = 0; j < factors.size(); j++) {
      if (equals(coordinate(j, factors.size()))) {
        return j;
      }
    }
    return -1;
  }

  /**
   * Returns the axes of the mask, outermost first, whose elements this function enumerates in
   * row-major order; empty if it does not, or omits numbers below {@code size}.
   */
  List<Integer> rowMajor(List<Dim> extents, Dim size) {
    List<Integer> axes = new ArrayList<>();
    List<Integer> open = new ArrayList<>();
    for (int j = 0; j < factors.size(); j++) {
      if (!factors.get(j).is(0)) {
        open.add(j);
      }
    }
    Dim stride = Dim.ONE;
    while (!open.isEmpty()) {
      Dim next = stride;
      Integer found =
          open.stream().filter(j -> factors.get(j).equals(next)).findFirst().orElse(null);
      if (found == null) {
        return List.of();
      }
      axes.addFirst(found);
      open.remove((Object) found);
      stride = stride.times(extents.get(found));
    }
    return offset.is(0) && stride.equals(size) ? axes : List.of();
  }
}
