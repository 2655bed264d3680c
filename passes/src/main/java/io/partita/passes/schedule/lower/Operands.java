package io.partita.passes.schedule.lower;

import io.partita.ir.schedule.Direction;
import java.util.ArrayList;
import java.util.List;

/** Operands of loops in which each value of a node is walked through, the last of them written. */
final class Operands {
  private Operands() {}

  static List<TileSpace.Operand> of(Walk walk, List<TensorView> views, List<String> names) {
    List<TileSpace.Operand> operands = new ArrayList<>();
    for (int i = 0; i < views.size(); i++) {
      operands.add(
          new TileSpace.Operand(
              names.get(i),
              i,
              views.get(i).element(),
              i == views.size() - 1 ? Direction.STORE : Direction.LOAD,
              walk.box(i)));
    }
    return operands;
  }
}
