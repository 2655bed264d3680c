package io.partita.driver.chip;

import io.partita.backend.siracusa.EmittedC;
import io.partita.backend.siracusa.SiracusaBackend;
import io.partita.driver.DriverCode;
import io.partita.driver.Entries;
import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.program.Program;
import io.partita.ir.schedule.Schedule;
import io.partita.ir.target.Quantity;
import io.partita.ir.target.TargetChange;
import io.partita.ir.target.TargetDescription;
import io.partita.ir.target.TargetLibrary;
import io.partita.ir.target.Unit;
import io.partita.passes.schedule.Scheduler;
import io.partita.passes.schedule.SchedulerOptions;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;

/**
 * Chips that a model is compiled to C for.
 *
 * @param options how the model is scheduled on them
 */
public record ChipTarget(TargetDescription description, SchedulerOptions options) {
  private static final String WORKING = "l1";

  /**
   * The target that a reference such as {@code siracusa:chips=4} names.
   *
   * @param settings parameters of the target and sizes of memories; {@code l1} is how much of L1
   *     loops may use
   * @throws PartitaException with {@link io.partita.ir.target.TargetCode}s
   */
  public static ChipTarget of(String reference, Map<String, Quantity> settings) {
    Map<String, Quantity> rest = new LinkedHashMap<>(settings);
    Quantity l1 = inBytes(rest.remove(WORKING));
    TargetDescription found = TargetLibrary.find(reference);
    SchedulerOptions usual = SchedulerOptions.STANDARD;
    if (l1 != null) {
      // Checks that it's a size.
      TargetChange.set(found, Map.of(WORKING, l1));
    }
    return new ChipTarget(
        TargetChange.set(found, rest),
        new SchedulerOptions(
            l1 == null ? usual.workingBytes() : OptionalLong.of((long) l1.value()),
            usual.doubleBuffer(),
            usual.prefetch()));
  }

  /** The same chips, scheduled with some switches on or off. */
  public ChipTarget with(Map<ScheduleSwitch, Boolean> switches) {
    return new ChipTarget(
        description,
        new SchedulerOptions(
            options.workingBytes(),
            switches.getOrDefault(ScheduleSwitch.DOUBLE_BUFFER, options.doubleBuffer()),
            switches.getOrDefault(ScheduleSwitch.PREFETCH, options.prefetch())));
  }

  /** A number alone is one of bytes. */
  private static Quantity inBytes(Quantity size) {
    return size != null && size.unit() == Unit.ONE ? new Quantity(size.number(), Unit.B) : size;
  }

  /**
   * C for a program.
   *
   * @throws PartitaException with a {@link io.partita.passes.schedule.ScheduleCode} or {@link
   *     io.partita.passes.schedule.tile.TileCode} when it doesn't fit, or has an operation without
   *     kernel; P6017 when the target has too few chips
   */
  public EmittedC emit(Program program) {
    return emit(new Entries.Programs(program));
  }

  /**
   * C for the entry points of a program.
   *
   * @throws PartitaException as {@link #emit(Program)}
   */
  public EmittedC emit(Entries.Programs programs) {
    List<Schedule> schedules = schedule(programs);
    return SiracusaBackend.emit(
        schedules.getFirst(), programs.chunk().map(chunk -> schedules.getLast()), description);
  }

  /**
   * When each chip does what, where.
   *
   * @throws PartitaException as {@link #emit}
   */
  public List<Schedule> schedule(Entries.Programs programs) {
    verifyDevices(programs.step().devices().size());
    return Scheduler.schedule(programs.all(), description, options);
  }

  /**
   * Whether the target has so many devices.
   *
   * @throws PartitaException P6017 when it hasn't
   */
  public void verifyDevices(int count) {
    if (count > description.deviceCount()) {
      throw new PartitaException(
          DriverCode.DEVICES,
          "--devices " + count,
          "at most " + description.deviceCount() + " devices, which the target has",
          Integer.toString(count),
          "choose --devices "
              + description.deviceCount()
              + (mayHave(count)
                  ? ", or a target with more: siracusa:chips=" + count
                  : " or fewer"));
    }
  }

  private boolean mayHave(int count) {
    try {
      TargetChange.set(description, Map.of("chips", new Quantity(count, Unit.ONE)));
      return true;
    } catch (PartitaException tooMany) {
      return false;
    }
  }
}
