package io.partita.passes.graph.state;

import io.partita.ir.type.Dim;
import io.partita.ir.type.Shape;
import java.util.OptionalInt;

/** Follows the token axis through operations. */
final class TokenAxis {
  private TokenAxis() {}

  /** Returns the axis after a reshape; empty if it is merged or split. */
  static OptionalInt afterReshape(Shape from, int axis, Shape to) {
    Dim before = from.range(0, axis).size();
    for (int i = 0; i < to.rank(); i++) {
      if (to.dim(i).equals(from.dim(axis)) && to.range(0, i).size().equals(before)) {
        return OptionalInt.of(i);
      }
    }
    return OptionalInt.empty();
  }
}
