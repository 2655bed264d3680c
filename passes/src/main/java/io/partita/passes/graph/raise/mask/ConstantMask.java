package io.partita.passes.graph.raise.mask;

import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.Dim;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import java.util.List;
import java.util.Optional;

/** Recognises masks that are constants. */
final class ConstantMask {
  private static final double HIDDEN = -1e4;

  private ConstantMask() {}

  /**
   * Returns the meaning of a mask; empty if the shape of scores is symbolic, or the mask is neither
   * causal, possibly windowed, nor without effect.
   */
  static Optional<MaskMeaning> meaning(Tensor data, Shape scores) {
    Shape shape = data.shape();
    if (shape.rank() < 2 || data.size() == 0 || !isTwoValued(data)) {
      return isVoid(data)
          ? Optional.of(
              new MaskMeaning(false, Dim.ZERO, 0, List.of(), Double.NEGATIVE_INFINITY, ""))
          : Optional.empty();
    }
    int keys = Math.toIntExact(shape.fromEnd(0).value());
    int queries = Math.toIntExact(shape.fromEnd(1).value());
    if (!scores.dim(2).is(queries) || !scores.dim(3).is(keys)) {
      return Optional.empty();
    }
    int last = 0;
    while (last < keys && isVisible(data, last)) {
      last++;
    }
    int offset = last - 1;
    long window = window(data, queries, keys);
    boolean matches = offset >= 0 || window > 0;
    int first = matches && window > 0 ? firstOffset(data, keys) : offset;
    for (int i = 0; i < data.size() && matches; i++) {
      int query = i / keys % queries + first;
      int key = i % keys;
      boolean expected = key <= query && (window == 0 || query - key < window);
      matches = isVisible(data, i) == expected;
    }
    return matches
        ? Optional.of(new MaskMeaning(true, Dim.of(first), window, List.of(), lowest(data), ""))
        : Optional.empty();
  }

  private static boolean isVoid(Tensor data) {
    return data.size() > 0 && data.isFilledWith(data.element() == ElementType.BOOL ? 1 : 0);
  }

  private static boolean isVisible(Tensor data, int index) {
    return data.element() == ElementType.BOOL ? data.getBoolean(index) : data.getDouble(index) == 0;
  }

  private static boolean isTwoValued(Tensor data) {
    if (isVoid(data)) {
      return false;
    }
    for (int i = 0; i < data.size(); i++) {
      if (!isVisible(data, i)
          && data.element() != ElementType.BOOL
          && !(data.getDouble(i) <= HIDDEN)) {
        return false;
      }
    }
    return true;
  }

  private static double lowest(Tensor data) {
    double lowest = Double.POSITIVE_INFINITY;
    for (int i = 0; i < data.size(); i++) {
      lowest = Math.min(lowest, data.getDouble(i));
    }
    return data.element() == ElementType.BOOL ? Double.NEGATIVE_INFINITY : lowest;
  }

  /** Returns the position of the first query: that of its last visible key. */
  private static int firstOffset(Tensor data, int keys) {
    int last = -1;
    for (int key = 0; key < keys; key++) {
      last = isVisible(data, key) ? key : last;
    }
    return last;
  }

  /** Returns the number of visible keys of the last query if the first key is hidden; else 0. */
  private static long window(Tensor data, int queries, int keys) {
    int row = (queries - 1) * keys;
    long visible = 0;
    for (int key = 0; key < keys; key++) {
      visible += isVisible(data, row + key) ? 1 : 0;
    }
    return isVisible(data, row) ? 0 : visible;
  }
}
