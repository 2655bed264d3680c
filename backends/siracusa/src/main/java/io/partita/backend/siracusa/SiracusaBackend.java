package io.partita.backend.siracusa;

import io.partita.backend.emitted.Backend;
import io.partita.backend.emitted.ChipDescription;
import io.partita.ir.program.Program;
import io.partita.ir.schedule.Schedule;
import io.partita.ir.target.TargetDescription;
import io.partita.passes.schedule.Scheduler;
import io.partita.passes.schedule.SchedulerOptions;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Schedules programs for chips and prints them as C. */
public record SiracusaBackend(TargetDescription target, SchedulerOptions options)
    implements Backend {
  @Override
  public String language() {
    return "C";
  }

  /**
   * Returns the program, without writing it.
   *
   * @throws io.partita.ir.diagnostic.PartitaException with a {@link
   *     io.partita.passes.schedule.ScheduleCode} or {@link
   *     io.partita.passes.schedule.tile.TileCode} if it doesn't fit, or has an operation without
   *     kernel
   */
  @Override
  public EmittedC emit(Program program, Optional<Program> chunk) {
    List<Schedule> schedules = schedule(program, chunk);
    return ProgramPrinter.emit(schedules.getFirst(), chunk.map(own -> schedules.getLast()), target);
  }

  /**
   * Schedules a program and its chunk, if any, together.
   *
   * @throws io.partita.ir.diagnostic.PartitaException as {@link #emit}
   */
  public List<Schedule> schedule(Program program, Optional<Program> chunk) {
    List<Program> programs = new ArrayList<>(List.of(program));
    chunk.ifPresent(programs::add);
    return Scheduler.schedule(programs, target, options);
  }

  @Override
  public boolean isProgram(Path folder) {
    return ChipDescription.isIn(folder);
  }
}
