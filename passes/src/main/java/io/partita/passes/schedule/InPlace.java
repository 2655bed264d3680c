package io.partita.passes.schedule;

import io.partita.ir.schedule.Direction;
import io.partita.passes.schedule.lower.TileSpace;
import io.partita.passes.schedule.view.Region;
import io.partita.passes.schedule.view.Storage;
import java.util.List;
import java.util.Optional;
import java.util.function.IntPredicate;
import java.util.stream.IntStream;

/**
 * Decides whether the first result of a loop can overwrite an operand without later use. Each tile
 * is loaded before it is stored, and never again, if both have the same tiles at the same place.
 */
final class InPlace {
  private InPlace() {}

  /**
   * @param result a contiguous place for the first result
   * @param dies whether the live range of an operand, by number, ends with this step
   * @param nearBytes the bytes of the largest value that {@link NearValues} may keep; such an
   *     operand and the result stay apart if the loop couldn't overwrite it there
   * @return the place that the result can have instead
   */
  static Optional<Storage> find(
      TileSpace space, List<Storage> operands, Storage result, IntPredicate dies, long nearBytes) {
    for (int i = 0; i < operands.size(); i++) {
      Storage operand = operands.get(i);
      boolean hasRoom =
          operand.region().kind() == Region.Kind.ACTIVATION
              && operand.isContiguous()
              && operand.element().bits() == result.element().bits()
              && operand.elements() == result.elements();
      if (hasRoom
          && dies.test(i)
          && hasSameTiles(space, operands, i)
          && (operand.region().bytes() > nearBytes || mayBeOverwritten(space, operands, i))) {
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

  private static boolean mayBeOverwritten(TileSpace space, List<Storage> operands, int operand) {
    return IntStream.range(0, space.operands().size())
        .filter(i -> space.operands().get(i).value() < operands.size())
        .filter(
            i ->
                operands.get(space.operands().get(i).value()).region()
                    == operands.get(operand).region())
        .allMatch(i -> NearValues.mayBeOverwritten(space, i));
  }

  /**
   * Whether each byte that is loaded from the region of the operand is stored there by the same
   * tile.
   */
  private static boolean hasSameTiles(TileSpace space, List<Storage> operands, int operand) {
    Optional<TileSpace.Operand> stored =
        space.operands().stream()
            .filter(each -> each.direction() == Direction.STORE)
            .filter(each -> each.value() == operands.size())
            .findFirst();
    if (stored.isEmpty()) {
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
                && each.element().bits() == stored.get().element().bits()
                && each.box().equals(stored.get().box());
        if (!isSame) {
          return false;
        }
        isLoaded = true;
      }
    }
    return isLoaded;
  }
}
