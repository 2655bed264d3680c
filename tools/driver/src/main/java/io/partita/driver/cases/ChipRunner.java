package io.partita.driver.cases;

import io.partita.backend.emitted.ProgramInterface;
import io.partita.backend.emitted.run.Build;
import io.partita.backend.emitted.run.InteractiveProgram;
import io.partita.backend.emitted.run.Port;
import io.partita.backend.siracusa.EmittedC;
import io.partita.driver.Entries;
import io.partita.driver.Sharding;
import io.partita.driver.chip.ChipTarget;
import io.partita.ir.file.OutputFolder;
import io.partita.ir.file.ScratchFolder;
import io.partita.ir.graph.Graph;
import io.partita.ir.graph.Module;
import io.partita.ir.program.Program;
import io.partita.ir.tensor.Tensor;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Emits modules as C for chips, builds them for a port and runs them there. */
public final class ChipRunner implements ModuleRunner {
  private static final Duration LIMIT = Duration.ofMinutes(10);

  /** Sufficient for a large network in a simulation of many chips. */
  private static final Duration LIMIT_OF_SIMULATION = Duration.ofHours(1);

  private final ChipTarget target;
  private final Optional<Sharding> sharding;
  private final Port port;
  private final String flags;
  private final List<String> options;
  private final Path kernels;

  /**
   * Runs on this host, with each chip as a process.
   *
   * @param sharding the distribution; empty for one chip
   */
  public ChipRunner(ChipTarget target, Optional<Sharding> sharding) {
    this(target, sharding, Port.HOST, "", List.of(), kernelFolder());
  }

  private static Path kernelFolder() {
    try {
      return new ScratchFolder().path();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * @param flags additional compiler flags
   * @param options options of the programs, such as {@code --transfers early}, or of GVSoC's board
   * @param kernels the folder of the runtime's objects, for runners with the same port and flags
   */
  public ChipRunner(
      ChipTarget target,
      Optional<Sharding> sharding,
      Port port,
      String flags,
      List<String> options,
      Path kernels) {
    this.target = target;
    this.sharding = sharding;
    this.port = port;
    this.flags = flags;
    this.options = List.copyOf(options);
    this.kernels = kernels;
  }

  @Override
  public Prepared prepare(Module module) {
    Module distributed =
        target.withSyncs(sharding.map(chosen -> chosen.run(module)).orElse(module));
    Program program = target.programs(new Entries(distributed), false).step();
    target.verifyDevices(program.devices().size());
    EmittedC emitted = target.backend().emit(program, Optional.empty());
    try {
      ScratchFolder scratch = new ScratchFolder();
      try {
        Path folder = scratch.path().resolve("c");
        OutputFolder.write(emitted.files(), folder, path -> false);
        List<String> variables = new ArrayList<>(List.of("HOST_KERNELS=" + kernels));
        variables.add(port.text() + "_KERNELS=" + kernels);
        variables.add("CORES=" + cores(program.devices().size()));
        if (!flags.isEmpty()) {
          variables.add("FLAGS=" + flags);
        }
        Build.run(folder, port, variables);
        Duration limit = port == Port.GVSOC ? LIMIT_OF_SIMULATION : LIMIT;
        InteractiveProgram started = InteractiveProgram.start(folder, port, options, limit);
        return new Running(module.graph(), scratch, started);
      } catch (RuntimeException e) {
        scratch.close();
        throw e;
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** One thread per processor of this computer; results don't depend on the number. */
  private static int cores(int chips) {
    return Math.max(1, Math.min(8, Runtime.getRuntime().availableProcessors() / chips));
  }

  /** A program whose inputs and outputs are in the order of a graph. */
  private record Running(Graph graph, ScratchFolder scratch, InteractiveProgram program)
      implements Prepared {
    @Override
    public List<Tensor> run(List<Tensor> inputs) {
      Map<String, Tensor> given = new LinkedHashMap<>();
      List<ProgramInterface.Port> wanted = program.description().whole().inputs();
      boolean isAll = inputs.size() == graph.inputs().size();
      for (int i = 0; i < inputs.size(); i++) {
        given.put(isAll ? graph.inputs().get(i).name() : wanted.get(i).name(), inputs.get(i));
      }
      List<Tensor> outputs =
          program.run(wanted.stream().map(port -> given.get(port.name())).toList());
      Map<String, Tensor> named = new LinkedHashMap<>();
      for (int i = 0; i < outputs.size(); i++) {
        named.put(program.description().whole().outputs().get(i).name(), outputs.get(i));
      }
      return graph.outputs().stream()
          .filter(output -> named.containsKey(output.name()))
          .map(output -> named.get(output.name()))
          .toList();
    }

    @Override
    public void close() {
      try (scratch) {
        program.close();
      }
    }
  }
}
