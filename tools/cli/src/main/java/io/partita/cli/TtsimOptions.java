package io.partita.cli;

import io.partita.backend.emitted.ProgramCode;
import io.partita.backend.emitted.run.GvsocPython;
import io.partita.backend.metalium.EmulatedProgram;
import io.partita.backend.metalium.KernelProgram;
import io.partita.backend.metalium.simulator.SimulatedProgram;
import io.partita.backend.metalium.simulator.TtnnInstallation;
import io.partita.ir.diagnostic.PartitaException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;

/** Where Tenstorrent's simulator is, for programs that run there. */
final class TtsimOptions {
  /** How to get it. */
  static final String REMEDY =
      "libttsim.so for Wormhole, of a release of https://github.com/tenstorrent/ttsim or built from"
          + " its sources with ./make.py; then --ttsim PATH";

  private static final String LIBRARY = "libttsim.so";

  @Option(
      names = "--ttsim",
      paramLabel = "PATH",
      description = "Tenstorrent's simulator of a Wormhole chip: libttsim.so, or its folder.")
  Path path;

  /** The simulator, if it is there. */
  Optional<Path> library() {
    return Optional.ofNullable(path)
        .map(given -> Files.isDirectory(given) ? given.resolve(LIBRARY) : given)
        .filter(Files::isRegularFile);
  }

  /** Refuses a simulator for a program that doesn't run there. */
  void verify(RunPlace on, CommandSpec spec) {
    if (path != null && on != RunPlace.TTSIM) {
      throw new ParameterException(spec.commandLine(), "--ttsim PATH goes with --on ttsim");
    }
  }

  /**
   * Returns where TT-Metalium kernels run.
   *
   * @param on the chosen place; null for the emulation
   * @param python the Python that has ttnn; null for the usual one
   * @param work the folder for what the simulator's runtime compiles
   * @throws PartitaException P5102 if there's no ttnn, or no simulator
   */
  KernelProgram.Place place(RunPlace on, String python, Path work, CommandSpec spec) {
    if (on != RunPlace.TTSIM) {
      if (python != null) {
        throw new ParameterException(
            spec.commandLine(), GvsocPython.OPTION + " goes with --on ttsim or --on gvsoc");
      }
      return EmulatedProgram::build;
    }
    TtnnInstallation ttnn = ttnn(python == null ? GvsocPython.USUAL : python);
    Path simulator = simulator();
    return (folder, whole) -> new SimulatedProgram(folder, whole, ttnn, simulator, work);
  }

  private Path simulator() {
    return library()
        .orElseThrow(
            () ->
                new PartitaException(
                    ProgramCode.NO_PROGRAM,
                    path == null ? "--on ttsim" : "--ttsim " + path,
                    "Tenstorrent's simulator (" + LIBRARY + ")",
                    path == null ? "no --ttsim" : "no such file",
                    REMEDY));
  }

  private static TtnnInstallation ttnn(String python) {
    String found;
    try {
      Optional<TtnnInstallation> ttnn = TtnnInstallation.find(python);
      if (ttnn.isPresent() && ttnn.get().version().equals(TtnnInstallation.RELEASE)) {
        return ttnn.get();
      }
      found = ttnn.map(other -> "ttnn " + other.version()).orElse("no ttnn");
    } catch (IOException broken) {
      found = String.valueOf(broken.getMessage());
    }
    throw new PartitaException(
        ProgramCode.NO_PROGRAM,
        GvsocPython.OPTION + " " + python,
        "a Python that has ttnn " + TtnnInstallation.RELEASE,
        found,
        TtnnInstallation.REMEDY);
  }
}
