package io.partita.driver.cases;

import io.partita.backend.emitted.probe.ProbeComparison;
import io.partita.backend.metalium.EmittedMetalium;
import io.partita.backend.metalium.KernelComparison;
import io.partita.backend.metalium.KernelProgram;
import io.partita.backend.metalium.KernelSession;
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
 * Emits modules as TT-Metalium kernels and runs them.
 *
 * @param sharding the distribution; empty for one chip
 * @param place where they run
 * @param limit the time limit of a run
 */
public record MetaliumRunner(
    MetaliumTarget target, Optional<Sharding> sharding, KernelProgram.Place place, Duration limit)
    implements ModuleRunner {

  @Override
  public Prepared prepare(Module module) {
    Module distributed = sharding.map(chosen -> chosen.run(module)).orElse(module);
    Program devices = Distribution.program(distributed);
    target.verifyDevices(devices.devices().size());
    EmittedMetalium emitted = target.backend().emit(devices, Optional.empty());
    try {
      ScratchFolder scratch = new ScratchFolder();
      try {
        Path folder = scratch.path().resolve("program");
        OutputFolder.write(emitted.files(), folder, path -> false);
        KernelProgram program = place.open(folder, emitted.description().whole());
        KernelComparison comparison = new KernelComparison(program, limit, program.tolerance());
        return new Running(scratch, new KernelSession(program, limit), comparison);
      } catch (RuntimeException e) {
        scratch.close();
        throw e;
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** A program that keeps its states from run to run. */
  private record Running(ScratchFolder scratch, KernelSession session, KernelComparison comparison)
      implements Prepared {
    @Override
    public List<Tensor> run(List<Tensor> inputs) {
      return session.run(inputs);
    }

    @Override
    public Optional<ProbeComparison.Result> compareSteps(List<Tensor> inputs) {
      return Optional.of(comparison.run(inputs));
    }

    @Override
    public void close() {
      try (scratch) {
        session.close();
      }
    }
  }
}
