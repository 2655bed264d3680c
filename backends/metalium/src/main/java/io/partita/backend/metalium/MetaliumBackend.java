package io.partita.backend.metalium;

import io.partita.backend.emitted.Backend;
import io.partita.backend.emitted.EmittedSchedule;
import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.program.Program;
import io.partita.ir.progress.ProgressListener;
import io.partita.ir.schedule.Schedule;
import io.partita.ir.target.TargetChange;
import io.partita.ir.target.TargetDescription;
import io.partita.passes.schedule.Scheduler;
import io.partita.passes.schedule.SchedulerOptions;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/** Schedules programs for Tenstorrent chips and prints them as TT-Metalium kernels. */
public record MetaliumBackend(TargetDescription target, MetaliumOptions options)
    implements Backend {
  /** The usual share of scheduling in the time of emitting. */
  private static final double SCHEDULED = 0.75;

  /** With standard options. */
  public MetaliumBackend(TargetDescription target) {
    this(target, MetaliumOptions.STANDARD);
  }

  @Override
  public String language() {
    return "TT-Metalium";
  }

  /**
   * Returns the program, without writing it.
   *
   * @throws PartitaException with a {@link MetaliumCode}, or as the scheduler does
   */
  @Override
  public EmittedMetalium emit(Program program, Optional<Program> chunk) {
    return emit(program, chunk, ProgressListener.NONE);
  }

  @Override
  public EmittedMetalium emit(Program program, Optional<Program> chunk, ProgressListener progress) {
    List<Program> entries =
        chunk.map(several -> List.of(program, several)).orElse(List.of(program));
    List<Schedule> schedules =
        Scheduler.schedule(entries, target, schedulerOptions(), progress.part(0, SCHEDULED));
    progress.part(SCHEDULED, 1).step("printing kernels", 0, 1);
    TargetDescription used = TargetChange.first(target, program.devices().size());
    return ProgramPrinter.emit(
        EmittedSchedule.of(schedules.getFirst(), used),
        chunk.map(several -> schedules.getLast()),
        options);
  }

  private SchedulerOptions schedulerOptions() {
    return SchedulerOptions.STANDARD.withWeights(options.weights().packing());
  }

  @Override
  public double secondsPerOperation() {
    return 0.006;
  }

  @Override
  public boolean isProgram(Path folder) {
    return MetaliumDescription.isIn(folder);
  }
}
