package io.partita.passes.graph.raise.mask;

import io.partita.ir.graph.Value;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.Dim;
import io.partita.ir.type.ElementType;
import java.util.List;

/** Reads constants in masks as formulas: numbers, ranges and triangles. */
final class ConstantReading {
  private ConstantReading() {}

  static Meaning at(Tensor data, List<Affine> index, Value value, int indices) {
    if (data.size() == 0) {
      return new Meaning.Unknown("an empty constant");
    }
    if (data.size() == 1 || data.isFilledWith(data.getDouble(0))) {
      return number(data, indices);
    }
    int axis = onlyAxis(data);
    if (axis >= 0 && data.element().isInteger()) {
      long step = data.getLong(1) - data.getLong(0);
      for (int i = 2; i < data.size(); i++) {
        if (data.getLong(i) - data.getLong(i - 1) != step) {
          return new Meaning.Lookup(value, index);
        }
      }
      return index.get(axis).times(Dim.of(step)).plus(Dim.of(data.getLong(0)));
    }
    return triangle(data, index, value);
  }

  private static Meaning number(Tensor data, int indices) {
    if (data.element() == ElementType.BOOL) {
      return new Meaning.Truth(data.getBoolean(0));
    }
    return data.element().isInteger()
        ? Affine.constant(Dim.of(data.getLong(0)), indices)
        : new Meaning.Number(data.getDouble(0));
  }

  /** Returns the only axis of more than one element, or -1. */
  private static int onlyAxis(Tensor data) {
    int only = -1;
    for (int axis = 0; axis < data.shape().rank(); axis++) {
      if (data.shape().extent(axis) > 1) {
        if (only >= 0) {
          return -1;
        }
        only = axis;
      }
    }
    return only;
  }

  /** {@code column <= row} in the last two axes. */
  private static Meaning triangle(Tensor data, List<Affine> index, Value value) {
    int rank = data.shape().rank();
    if (rank < 2 || data.element() != ElementType.BOOL && !data.element().isInteger()) {
      return new Meaning.Lookup(value, index);
    }
    int columns = Math.toIntExact(data.shape().fromEnd(0).value());
    int rows = Math.toIntExact(data.shape().fromEnd(1).value());
    for (int i = 0; i < data.size(); i++) {
      int row = i / columns % rows;
      if (data.getDouble(i) != (i % columns <= row ? 1 : 0)) {
        return new Meaning.Lookup(value, index);
      }
    }
    return new Meaning.AtMostZero(index.get(rank - 1).minus(index.get(rank - 2)));
  }
}
