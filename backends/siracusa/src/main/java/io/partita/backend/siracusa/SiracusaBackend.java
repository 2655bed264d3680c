package io.partita.backend.siracusa;

import io.partita.backend.emitted.Backend;
import io.partita.backend.emitted.ChipDescription;
import io.partita.ir.program.Program;
import io.partita.ir.progress.ProgressListener;
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
  /** The usual share of scheduling in the time of emitting. */
  private static final double SCHEDULED = 0.75;

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
    return emit(program, chunk, ProgressListener.NONE);
  }

  @Override
  public EmittedC emit(Program program, Optional<Program> chunk, ProgressListener progress) {
    List<Schedule> schedules = schedule(program, chunk, progress.part(0, SCHEDULED));
    progress.part(SCHEDULED, 1).step("printing C", 0, 1);
    return ProgramPrinter.emit(schedules.getFirst(), chunk.map(own -> schedules.getLast()), target);
  }

  /**
   * Schedules a program and its chunk, if any, together.
   *
   * @throws io.partita.ir.diagnostic.PartitaException as {@link #emit}
   */
  public List<Schedule> schedule(Program program, Optional<Program> chunk) {
    return schedule(program, chunk, ProgressListener.NONE);
  }

  private List<Schedule> schedule(
      Program program, Optional<Program> chunk, ProgressListener progress) {
    List<Program> programs = new ArrayList<>(List.of(program));
    chunk.ifPresent(programs::add);
    return Scheduler.schedule(programs, target, options, progress);
  }

  @Override
  public double secondsPerOperation() {
    return 0.012;
  }

  @Override
  public boolean isProgram(Path folder) {
    return ChipDescription.isIn(folder);
  }
}
