package io.partita.backend.metalium;

import io.partita.backend.emitted.Backend;
import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.program.Program;
import io.partita.ir.target.TargetDescription;
import io.partita.passes.schedule.Scheduler;
import io.partita.passes.schedule.SchedulerOptions;
import java.nio.file.Path;
import java.util.Optional;

/** Schedules programs for Tenstorrent chips and prints them as TT-Metalium kernels. */
public record MetaliumBackend(TargetDescription target, MetaliumOptions options)
    implements Backend {
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
    if (chunk.isPresent()) {
      throw new PartitaException(
          MetaliumCode.PROGRAM,
          "model \"" + program.name() + "\"",
          "one entry point",
          "an entry point for chunks",
          "compile it without --chunk, or for --target java or siracusa");
    }
    return ProgramPrinter.emit(
        Scheduler.schedule(program, target, SchedulerOptions.STANDARD), options);
  }

  @Override
  public boolean isProgram(Path folder) {
    return MetaliumDescription.isIn(folder);
  }
}
