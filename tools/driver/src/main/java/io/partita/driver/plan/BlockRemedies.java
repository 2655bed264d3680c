package io.partita.driver.plan;

import io.partita.driver.report.BlockFields;
import io.partita.ir.diagnostic.Diagnostic;
import io.partita.ir.diagnostic.PartitaException;
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
  private static final int MAX_TRIALS = 8;
  private static final long KIBIBYTE = 1024;

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
            String.join(", or ", found) + " (tried, it then fits); or " + failure.remedy());
  }

  private Optional<String> moreDevices() {
    PlanRequest request = planned.request();
    int most = request.target().deviceCount();
    for (int more = 2 * planned.search().best().devices(); more <= most; more *= 2) {
      try {
        PlanResult other = planning.search(request.with(new DeviceChoice.Exactly(more)));
        if (other.fits() && fits(other.search().best(), request.target())) {
          return Optional.of("--devices " + more);
        }
      } catch (PartitaException cannotBeSplit) {
        return Optional.empty();
      }
    }
    return Optional.empty();
  }

  /** Doubles the memory in which cores work, up to that of the card. */
  private Optional<String> moreMemory(TargetDescription card) {
    TargetDescription target = planned.request().target();
    Memory memory = target.devices().getFirst().working();
    long most = card.devices().getFirst().working().bytes() / KIBIBYTE * KIBIBYTE;
    long size = memory.bytes();
    for (int trial = 0; trial < MAX_TRIALS && size < most; trial++) {
      size = Math.min(Math.ceilDiv(2 * size, KIBIBYTE) * KIBIBYTE, most);
      Map<String, Quantity> larger = Map.of(memory.name(), new Quantity(size, Unit.B));
      if (fits(planned.search().best(), TargetChange.set(target, larger))) {
        return Optional.of("--set " + memory.name() + "=" + text(size));
      }
    }
    return Optional.empty();
  }

  private static String text(long bytes) {
    long kibibytes = bytes / KIBIBYTE;
    return kibibytes % KIBIBYTE == 0 ? kibibytes / KIBIBYTE + "MiB" : kibibytes + "KiB";
  }

  private boolean fits(CandidatePlan plan, TargetDescription target) {
    return BlockFields.of(plan.program(), target, planned.request().weights()).failure().isEmpty();
  }
}
