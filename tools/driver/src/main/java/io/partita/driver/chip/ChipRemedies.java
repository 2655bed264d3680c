package io.partita.driver.chip;

import io.partita.backend.metalium.MetaliumCode;
import io.partita.driver.Distribution;
import io.partita.driver.Doubling;
import io.partita.driver.Entries;
import io.partita.ir.diagnostic.Diagnostic;
import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.target.ChipKind;
import io.partita.ir.target.Memory;
import io.partita.passes.mesh.shard.ShardPass;
import io.partita.passes.mesh.shard.Strategy;
import io.partita.passes.mesh.speculate.SpeculateGroups;
import io.partita.passes.schedule.ScheduleCode;
import io.partita.passes.schedule.Scheduler;
import io.partita.passes.schedule.tile.TileCode;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Finds changes that make a program fit its chips; each is tried before it is named. */
final class ChipRemedies {

  private final Entries whole;
  private final int devices;
  private final RemediedTarget target;

  /**
   * @param whole the entry points before distribution
   * @param devices the number of devices on which it doesn't fit
   */
  ChipRemedies(Entries whole, int devices, RemediedTarget target) {
    this.whole = whole;
    this.devices = devices;
    this.target = target;
  }

  /** Whether another size of a memory may help. */
  static boolean mayHelp(PartitaException failure) {
    if (failure.diagnostics().size() != 1) {
      return false;
    }
    Diagnostic told = failure.diagnostics().getFirst();
    return isOfWorking(told) || told.code() == ScheduleCode.HOME || told.code() == ScheduleCode.FAR;
  }

  /** Whether the memory in which loops work is too small. */
  private static boolean isOfWorking(Diagnostic told) {
    return told.code() instanceof TileCode || told.code() == MetaliumCode.BUFFERS;
  }

  /**
   * Adds the changes that were found, if any, to a diagnostic.
   *
   * @param distributed the programs that don't fit
   */
  PartitaException named(PartitaException failure, Entries.Programs distributed) {
    Diagnostic told = failure.diagnostics().getFirst();
    List<String> found = new ArrayList<>();
    moreDevices(distributed).ifPresent(found::add);
    moreMemory(told, distributed).ifPresent(found::add);
    if (found.isEmpty()) {
      return failure;
    }
    return new PartitaException(
        told.code(),
        told.where(),
        told.expected(),
        told.found(),
        Doubling.remedy(found, told.remedy()));
  }

  /** Doubles the number of devices, up to those of the target. */
  private Optional<String> moreDevices(Entries.Programs distributed) {
    if (distributed.step().mesh().has(SpeculateGroups.AXIS)) {
      // What is tried below doesn't speculate.
      return Optional.empty();
    }
    return Doubling.devices(
        devices,
        target.description().deviceCount(),
        more -> {
          ShardPass pass = new ShardPass(Strategy.tensor(more));
          return fits(Distribution.programs(whole.map(pass::run)), target);
        });
  }

  /** Doubles the size of the memory that is too small, up to what the chips can have. */
  private Optional<String> moreMemory(Diagnostic told, Entries.Programs distributed) {
    ChipKind chip = target.description().devices().getFirst();
    boolean isWorking = isOfWorking(told);
    Memory memory =
        isWorking
            ? chip.working()
            : told.code() == ScheduleCode.FAR ? chip.far().orElseThrow() : Scheduler.home(chip);
    long size = isWorking ? target.workingBytes() : memory.bytes();
    return Doubling.memory(
        memory,
        size,
        target.most(memory),
        more ->
            fits(
                distributed,
                isWorking ? target.withWorkingBytes(more) : target.with(memory, more)));
  }

  private static boolean fits(Entries.Programs programs, RemediedTarget target) {
    try {
      target.verifyFit(programs);
      return true;
    } catch (PartitaException tooSmall) {
      return false;
    }
  }
}
