package io.partita.passes.schedule;

import io.partita.ir.schedule.ChipSchedule;
import io.partita.ir.schedule.ChipSchedule.Residence;
import io.partita.ir.schedule.Schedule;
import io.partita.ir.schedule.ScheduleStep;
import io.partita.ir.schedule.StepMeaning;
import io.partita.ir.schedule.TiledKernel;
import java.util.List;
import java.util.Optional;

/** Makes schedules that differ in a part, for tests of verifiers. */
public final class ChangedChips {
  private ChangedChips() {}

  /** Returns a chip with other steps. */
  public static ChipSchedule with(ChipSchedule chip, List<ScheduleStep> steps) {
    return with(chip, chip.kernels(), steps, chip.residences(), chip.meaning());
  }

  static ChipSchedule with(
      ChipSchedule chip,
      List<TiledKernel> kernels,
      List<ScheduleStep> steps,
      List<Residence> residences,
      Optional<StepMeaning> meaning) {
    return new ChipSchedule(
        chip.devices(),
        chip.cores(),
        chip.memories(),
        kernels,
        chip.start(),
        steps,
        chip.inputs(),
        chip.outputs(),
        chip.states(),
        chip.constants(),
        residences,
        meaning);
  }

  /** Returns a chip with other loops. */
  static ChipSchedule withKernels(ChipSchedule chip, List<TiledKernel> kernels) {
    return with(chip, kernels, chip.steps(), chip.residences(), chip.meaning());
  }

  /** Returns a schedule with another chip as its only role. */
  static Schedule with(Schedule schedule, ChipSchedule chip) {
    return new Schedule(
        schedule.program(),
        schedule.target(),
        List.of(chip),
        schedule.inputs(),
        schedule.outputs());
  }
}
