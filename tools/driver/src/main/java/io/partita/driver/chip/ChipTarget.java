package io.partita.driver.chip;

import io.partita.backend.siracusa.SiracusaBackend;
import io.partita.driver.Distribution;
import io.partita.driver.DriverCode;
import io.partita.driver.Entries;
import io.partita.driver.Sharding;
import io.partita.driver.cases.ChipRunner;
import io.partita.driver.cases.ModuleRunner;
import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.graph.Module;
import io.partita.ir.schedule.Schedule;
import io.partita.ir.target.Memory;
import io.partita.ir.target.Quantity;
import io.partita.ir.target.TargetChange;
import io.partita.ir.target.TargetDescription;
import io.partita.ir.target.TargetLibrary;
import io.partita.ir.target.Unit;
import io.partita.passes.planning.cost.OverlapChoice;
import io.partita.passes.planning.cost.PlanOptions;
import io.partita.passes.planning.search.SyncAlgorithms;
import io.partita.passes.schedule.SchedulerOptions;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The chips for which a model is compiled to C.
 *
 * @param options the options of the scheduler
 */
public record ChipTarget(TargetDescription description, SchedulerOptions options)
    implements RemediedTarget {
  private static final String WORKING = "l1";

  /**
   * Returns the target of a reference such as {@code siracusa:chips=4}.
   *
   * @param settings parameters of the target and sizes of memories; {@code l1} limits the L1 that
   *     loops may use
   * @throws PartitaException with {@link io.partita.ir.target.TargetCode}s
   */
  public static ChipTarget of(String reference, Map<String, Quantity> settings) {
    Map<String, Quantity> rest = new LinkedHashMap<>(settings);
    Quantity l1 = inBytes(rest.remove(WORKING));
    TargetDescription found = TargetLibrary.find(reference);
    SchedulerOptions usual = SchedulerOptions.STANDARD;
    if (l1 != null) {
      // Checks that it is a size.
      TargetChange.set(found, Map.of(WORKING, l1));
    }
    return new ChipTarget(
        TargetChange.set(found, rest),
        l1 == null ? usual : usual.withWorkingBytes((long) l1.value()));
  }

  /** Returns the same chips, with scheduler switches on or off. */
  public ChipTarget with(Map<ScheduleSwitch, Boolean> switches) {
    return new ChipTarget(
        description,
        new SchedulerOptions(
            options.workingBytes(),
            switches.getOrDefault(ScheduleSwitch.DOUBLE_BUFFER, options.doubleBuffer()),
            switches.getOrDefault(ScheduleSwitch.PREFETCH, options.prefetch()),
            switches.getOrDefault(ScheduleSwitch.NEAR_VALUES, options.nearValues()),
            switches.getOrDefault(ScheduleSwitch.OVERLAP, options.overlap()),
            switches.getOrDefault(ScheduleSwitch.LEAST_TRAFFIC, options.leastTraffic()),
            options.weights()));
  }

  /** A number without a unit is in bytes. */
  private static Quantity inBytes(Quantity size) {
    return size != null && size.unit() == Unit.ONE ? new Quantity(size.number(), Unit.B) : size;
  }

  @Override
  public SiracusaBackend backend() {
    return new SiracusaBackend(description, options);
  }

  @Override
  public String name() {
    return description.name();
  }

  @Override
  public Module withSyncs(Module module) {
    if (module.placement().isEmpty()) {
      return module;
    }
    int count = module.placement().get().mesh().devices();
    verifyDevices(count);
    Module chosen = SyncAlgorithms.choose(module, description);
    return options.overlap()
        ? OverlapChoice.tiled(chosen, TargetChange.first(description, count), PlanOptions.DEFAULT)
        : chosen;
  }

  @Override
  public Entries.Programs programs(Entries distributed, boolean isPlanned) {
    return options.overlap()
        ? Distribution.overlapping(distributed)
        : Distribution.programs(distributed);
  }

  @Override
  public ModuleRunner runner(Optional<Sharding> sharding) {
    return new ChipRunner(this, sharding);
  }

  @Override
  public long workingBytes() {
    return options
        .workingBytes()
        .orElseGet(() -> description.devices().getFirst().working().usable());
  }

  /** Chips with other memories than Siracusa's can be simulated. */
  @Override
  public long most(Memory memory) {
    return Long.MAX_VALUE;
  }

  @Override
  public ChipTarget withWorkingBytes(long bytes) {
    return new ChipTarget(description, options.withWorkingBytes(bytes));
  }

  @Override
  public ChipTarget with(TargetDescription changed) {
    return new ChipTarget(changed, options);
  }

  @Override
  public void verifyFit(Entries.Programs programs) {
    schedule(programs);
  }

  /**
   * Schedules a program.
   *
   * @throws PartitaException as {@link SiracusaBackend#emit}; P6017 if the target has too few chips
   */
  public List<Schedule> schedule(Entries.Programs programs) {
    verifyDevices(programs.step().devices().size());
    return backend().schedule(programs.step(), programs.chunk());
  }

  @Override
  public void verifyDevices(int count) {
    if (count > description.deviceCount()) {
      throw new PartitaException(
          DriverCode.DEVICES,
          "--devices " + count,
          "at most " + description.deviceCount() + " devices, the number in the target",
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
