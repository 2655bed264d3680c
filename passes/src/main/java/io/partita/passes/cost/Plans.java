package io.partita.passes.cost;

import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.graph.Module;
import io.partita.ir.program.Program;
import io.partita.ir.target.ChipKind;
import io.partita.ir.target.TargetDescription;
import io.partita.passes.residency.LocalValues;
import io.partita.passes.residency.Residency;
import io.partita.passes.residency.ResidencyCode;
import io.partita.passes.residency.Shortage;
import java.util.ArrayList;
import java.util.List;

/** Predicts what programs take on targets. */
public final class Plans {
  private Plans() {}

  /**
   * Device i of the program runs on device i of the target.
   *
   * @param program of static shapes
   * @throws PartitaException with {@link ResidencyCode#DEVICES}, or a {@link CostCode} when the
   *     target lacks a figure. A program that doesn't fit is no error: the report says so
   */
  public static PlanReport report(Program program, TargetDescription target, PlanOptions options) {
    List<Module> locals = program.devices();
    if (locals.size() > target.deviceCount()) {
      throw new PartitaException(
          ResidencyCode.DEVICES,
          "target " + target.name(),
          "at least " + locals.size() + " devices",
          String.valueOf(target.deviceCount()),
          "give the target more devices, or ask for fewer");
    }
    TargetTimeline timeline = new TargetTimeline(target);
    KernelTimes kernels = new KernelTimes(options.buffers());
    List<ChipKind> chips = target.devices();
    List<DeviceRun> devices = new ArrayList<>();
    List<Shortage> shortages = new ArrayList<>();
    int blocks = 0;
    for (int device = 0; device < locals.size(); device++) {
      LocalValues values = new LocalValues(locals.get(device), options.assumptions());
      Residency residency = Residency.of(device, values, chips.get(device), timeline.buffer());
      blocks = Math.max(blocks, residency.blocks().count());
      shortages.addAll(residency.shortages());
      devices.add(new DeviceRun(timeline, kernels, options, device, values, residency));
    }
    ProgramTimeline run = new ProgramTimeline(timeline, options, devices);
    run.run();
    return run.report(target.name(), program.mesh(), blocks, shortages);
  }
}
