package io.partita.driver.cases;

import io.partita.backend.metalium.EmittedMetalium;
import io.partita.backend.metalium.EmulatedProgram;
import io.partita.backend.metalium.EmulatedSession;
import io.partita.driver.Distribution;
import io.partita.driver.Sharding;
import io.partita.driver.chip.MetaliumTarget;
import io.partita.ir.file.OutputFolder;
import io.partita.ir.file.ScratchFolder;
import io.partita.ir.graph.Module;
import io.partita.ir.program.Program;
import io.partita.ir.tensor.Tensor;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * Emits modules as TT-Metalium kernels, builds them and runs them on the emulated chip.
 *
 * @param sharding the distribution; empty for one chip
 */
public record MetaliumRunner(MetaliumTarget target, Optional<Sharding> sharding)
    implements ModuleRunner {
  private static final Duration LIMIT = Duration.ofMinutes(10);

  @Override
  public Prepared prepare(Module module) {
    Module distributed = sharding.map(chosen -> chosen.run(module)).orElse(module);
    Program program = Distribution.program(distributed);
    target.verifyDevices(program.devices().size());
    EmittedMetalium emitted = target.backend().emit(program, Optional.empty());
    try {
      ScratchFolder scratch = new ScratchFolder();
      try {
        Path folder = scratch.path().resolve("program");
        OutputFolder.write(emitted.files(), folder, path -> false);
        EmulatedProgram built = EmulatedProgram.build(folder, emitted.description().whole());
        return new Running(scratch, new EmulatedSession(built, LIMIT));
      } catch (RuntimeException e) {
        scratch.close();
        throw e;
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** A program that keeps its states from run to run. */
  private record Running(ScratchFolder scratch, EmulatedSession session) implements Prepared {
    @Override
    public List<Tensor> run(List<Tensor> inputs) {
      return session.run(inputs);
    }

    @Override
    public void close() {
      try (scratch) {
        session.close();
      }
    }
  }
}
