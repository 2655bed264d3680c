package io.partita.driver.plan;

import io.partita.driver.Doubling;
import io.partita.driver.report.BlockFields;
import io.partita.ir.diagnostic.Diagnostic;
import io.partita.ir.target.Memory;
import io.partita.ir.target.Quantity;
import io.partita.ir.target.TargetChange;
import io.partita.ir.target.TargetDescription;
import io.partita.ir.target.Unit;
import io.partita.passes.planning.search.CandidatePlan;
import io.partita.passes.schedule.tile.TileCode;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Finds changes with which cores have room for a plan whose loops don't fit their private memories:
 * more devices, or more of a memory that was set to less. Each is tried before it is named.
 */
public final class BlockRemedies {
  private final Planning planning;
  private final PlanResult planned;

  /**
   * @param planned a plan that fits but for the blocks of its loops
   */
  public BlockRemedies(Planning planning, PlanResult planned) {
    this.planning = planning;
    this.planned = planned;
  }

  /** Whether loops that don't fit are why a program has no blocks. */
  public static boolean isShortage(Diagnostic failure) {
    return failure.code() == TileCode.TOO_LARGE;
  }

  /**
   * Returns a diagnostic with the changes that were found, if any.
   *
   * @param card the target with all of its memories
   */
  public Diagnostic named(Diagnostic failure, TargetDescription card) {
    List<String> found = new ArrayList<>();
    moreDevices().ifPresent(found::add);
    moreMemory(card).ifPresent(found::add);
    return found.isEmpty()
        ? failure
        : new Diagnostic(
            failure.code(),
            failure.where(),
            failure.expected(),
            failure.found(),
            Doubling.remedy(found, failure.remedy()));
  }

  private Optional<String> moreDevices() {
    PlanRequest request = planned.request();
    return Doubling.devices(
        planned.search().best().devices(),
        request.target().deviceCount(),
        more -> {
          PlanResult other = planning.search(request.with(new DeviceChoice.Exactly(more)));
          return other.fits() && fits(other.search().best(), request.target());
        });
  }

  /** Doubles the memory in which cores work, up to that of the card. */
  private Optional<String> moreMemory(TargetDescription card) {
    TargetDescription target = planned.request().target();
    Memory memory = target.devices().getFirst().working();
    return Doubling.memory(
        memory,
        memory.bytes(),
        card.devices().getFirst().working().bytes(),
        more -> {
          Map<String, Quantity> larger = Map.of(memory.name(), new Quantity(more, Unit.B));
          return fits(planned.search().best(), TargetChange.set(target, larger));
        });
  }

  private boolean fits(CandidatePlan plan, TargetDescription target) {
    return BlockFields.of(plan.program(), target, planned.request().weights()).failure().isEmpty();
  }
}
