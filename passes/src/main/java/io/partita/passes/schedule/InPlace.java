package io.partita.passes.schedule;

import io.partita.ir.schedule.Direction;
import io.partita.passes.schedule.lower.TileSpace;
import io.partita.passes.schedule.view.Region;
import io.partita.passes.schedule.view.Storage;
import java.util.List;
import java.util.Optional;
import java.util.function.IntPredicate;

/**
 * Whether a loop can store its result where an operand was that nobody needs any more. Each tile is
 * loaded before it's stored, and never again, if both have the same tiles in the same place.
 */
final class InPlace {
  private InPlace() {}

  /**
   * @param space with one result
   * @param result a place of its own for the result, without gaps
   * @param dies by number of an operand, whether it isn't needed after this step
   * @return where the result can lie instead
   */
  static Optional<Storage> find(
      TileSpace space, List<Storage> operands, Storage result, IntPredicate dies) {
    for (int i = 0; i < operands.size(); i++) {
      Storage operand = operands.get(i);
      boolean hasRoom =
          operand.region().kind() == Region.Kind.ACTIVATION
              && operand.isContiguous()
              && operand.element().bits() == result.element().bits()
              && operand.elements() == result.elements();
      if (hasRoom && dies.test(i) && hasSameTiles(space, operands, i)) {
        return Optional.of(
            new Storage(
                operand.region(),
                result.element(),
                operand.offset(),
                result.shape(),
                result.strides()));
      }
    }
    return Optional.empty();
  }

  /** Whatever is loaded from the operand's region is what is stored there. */
  private static boolean hasSameTiles(TileSpace space, List<Storage> operands, int operand) {
    List<TileSpace.Operand> stored =
        space.operands().stream().filter(each -> each.direction() == Direction.STORE).toList();
    if (stored.size() != 1) {
      return false;
    }
    boolean isLoaded = false;
    for (TileSpace.Operand each : space.operands()) {
      boolean isThere =
          each.value() < operands.size()
              && operands.get(each.value()).region() == operands.get(operand).region();
      if (isThere) {
        boolean isSame =
            each.direction() == Direction.LOAD
                && operands.get(each.value()).equals(operands.get(operand))
                && each.element().bits() == stored.getFirst().element().bits()
                && each.box().equals(stored.getFirst().box());
        if (!isSame) {
          return false;
        }
        isLoaded = true;
      }
    }
    return isLoaded;
  }
}
