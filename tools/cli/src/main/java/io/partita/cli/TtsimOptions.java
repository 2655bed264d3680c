package io.partita.cli;

import io.partita.backend.emitted.ProgramCode;
import io.partita.backend.emitted.ProgramInterface;
import io.partita.backend.emitted.run.GvsocPython;
import io.partita.backend.metalium.simulator.SimulatedProgram;
import io.partita.backend.metalium.simulator.TtnnInstallation;
import io.partita.ir.diagnostic.PartitaException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import picocli.CommandLine.Option;

/** Where Tenstorrent's simulator is. */
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

  /**
   * Returns a program to run on the simulator.
   *
   * @param python the Python that has ttnn
   * @throws PartitaException P5102 if there's no ttnn, or no simulator
   */
  SimulatedProgram program(Path folder, ProgramInterface whole, String python) {
    TtnnInstallation ttnn = ttnn(python);
    Path simulator =
        library()
            .orElseThrow(
                () ->
                    new PartitaException(
                        ProgramCode.NO_PROGRAM,
                        path == null ? "--on ttsim" : "--ttsim " + path,
                        "Tenstorrent's simulator (" + LIBRARY + ")",
                        path == null ? "no --ttsim" : "no such file",
                        REMEDY));
    return new SimulatedProgram(folder, whole, ttnn, simulator, folder.resolve("build/ttsim"));
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
