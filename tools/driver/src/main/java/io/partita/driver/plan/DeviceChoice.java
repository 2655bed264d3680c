package io.partita.driver.plan;

import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.mesh.Mesh;
import io.partita.ir.target.Parameter;
import io.partita.ir.target.Quantity;
import io.partita.ir.target.TargetChange;
import io.partita.ir.target.TargetDescription;
import io.partita.ir.target.Unit;
import io.partita.passes.planning.search.PlanCode;
import io.partita.passes.planning.search.PlanSearch;
import io.partita.passes.planning.search.StrategyChoice;
import java.util.List;

/** The user's choice of the number of devices. */
public sealed interface DeviceChoice {
  /** All devices of the target, or the strategy's number if it has one. */
  record All() implements DeviceChoice {}

  /** The best number. */
  record Auto() implements DeviceChoice {}

  record Exactly(int count) implements DeviceChoice {}

  /**
   * Reads {@code auto} or a number.
   *
   * @throws PartitaException with {@link PlanCode#DEVICES} for anything else
   */
  static DeviceChoice parse(String text) {
    if (text.strip().equals("auto")) {
      return new Auto();
    }
    if (text.strip().matches("[0-9]{1,9}")) {
      int count = Integer.parseInt(text.strip());
      if (count >= 1 && count <= Mesh.MAX_DEVICES) {
        return new Exactly(count);
      }
    }
    throw new PartitaException(
        PlanCode.DEVICES,
        "option --devices",
        "auto, or a number from 1 to " + Mesh.MAX_DEVICES,
        text,
        "write it as in: --devices 4");
  }

  /**
   * Returns the numbers of devices to plan for.
   *
   * @throws PartitaException with {@link PlanCode#DEVICES} for more devices than the target has
   */
  default List<Integer> counts(TargetDescription target, StrategyChoice strategy) {
    int most = target.deviceCount();
    return switch (this) {
      case Exactly(int count) -> List.of(limited(count, target));
      case All() ->
          List.of(strategy.fixed().map(fixed -> limited(fixed.devices(), target)).orElse(most));
      case Auto() ->
          strategy
              .fixed()
              .map(fixed -> List.of(limited(fixed.devices(), target)))
              .orElseGet(() -> PlanSearch.deviceCounts(most));
    };
  }

  private static int limited(int count, TargetDescription target) {
    if (count <= target.deviceCount()) {
      return count;
    }
    Quantity wanted = new Quantity(count, Unit.ONE);
    throw new PartitaException(
        PlanCode.DEVICES,
        "option --devices",
        "1 to " + target.deviceCount() + ", the devices of the target " + target.name(),
        Integer.toString(count),
        TargetChange.deviceParameter(target)
            .filter(parameter -> parameter.high().value() >= wanted.value())
            .map(Parameter::name)
            .map(name -> "add --set " + name + "=" + count)
            .orElse("choose --devices " + target.deviceCount() + ", or fewer"));
  }
}
