package io.partita.cli;

import io.partita.backend.emitted.run.GvsocPython;
import io.partita.backend.metalium.simulator.StockCompiler;
import io.partita.backend.metalium.simulator.TtnnInstallation;
import io.partita.cli.DoctorCommand.Finding;
import io.partita.cli.DoctorCommand.Status;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/** What runs TT-Metalium kernels on Tenstorrent's simulator: {@code --on ttsim}. */
final class TtsimTools {
  private TtsimTools() {}

  /**
   * Looks for ttnn, the simulator and a compiler.
   *
   * @param python the Python that has ttnn, or null for the usual one
   */
  static List<Finding> findings(String python, TtsimOptions options) {
    String name = python == null ? GvsocPython.USUAL : python;
    Optional<TtnnInstallation> ttnn = Optional.empty();
    String problem = name + " has no ttnn; --on ttsim needs it";
    try {
      ttnn = TtnnInstallation.find(name);
    } catch (IOException broken) {
      problem = String.valueOf(broken.getMessage());
    }
    return List.of(ttnn(ttnn, problem), simulator(options), compiler(ttnn));
  }

  private static Finding ttnn(Optional<TtnnInstallation> found, String problem) {
    if (found.isEmpty()) {
      return new Finding("ttnn", Status.OPTIONAL, problem, TtnnInstallation.REMEDY);
    }
    TtnnInstallation ttnn = found.get();
    String value = ttnn.version() + ", " + ttnn.folder();
    return ttnn.version().equals(TtnnInstallation.RELEASE)
        ? DoctorCommand.ok("ttnn", value)
        : new Finding(
            "ttnn",
            Status.OPTIONAL,
            value + "; kernels are for " + TtnnInstallation.RELEASE,
            TtnnInstallation.REMEDY);
  }

  private static Finding simulator(TtsimOptions options) {
    String purpose = "simulates a Wormhole chip: --on ttsim";
    return options
        .library()
        .map(library -> DoctorCommand.ok("ttsim", library + "; " + purpose))
        .orElseGet(
            () ->
                new Finding(
                    "ttsim",
                    Status.OPTIONAL,
                    (options.path == null ? "not named; " : "not at " + options.path + "; ")
                        + purpose,
                    TtsimOptions.REMEDY));
  }

  private static Finding compiler(Optional<TtnnInstallation> ttnn) {
    String name = "kernel compiler";
    Optional<Path> own = ttnn.flatMap(TtnnInstallation::compiler);
    if (own.isPresent()) {
      return DoctorCommand.ok(name, own.get() + ", Tenstorrent's; --on ttsim");
    }
    List<String> missing = StockCompiler.missing();
    return missing.isEmpty()
        ? DoctorCommand.ok(name, "a stock RISC-V GCC, in place of Tenstorrent's; --on ttsim")
        : new Finding(
            name,
            Status.OPTIONAL,
            "no " + String.join(", no ", missing) + "; --on ttsim needs them",
            StockCompiler.REMEDY);
  }
}
