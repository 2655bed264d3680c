package io.partita.backend.metalium;

import static org.assertj.core.api.Assumptions.assumeThat;

import io.partita.backend.emitted.ProgramInterface;
import io.partita.backend.metalium.simulator.SimulatedProgram;
import io.partita.backend.metalium.simulator.StockCompiler;
import io.partita.backend.metalium.simulator.TtnnInstallation;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/** Tenstorrent's runtime and simulator, where they are installed. */
final class WithTtsim {
  private static final Optional<TtnnInstallation> TTNN = ttnn(TtnnInstallation.RELEASE);
  private static final Optional<Path> SIMULATOR = simulator("partita.ttsim");
  private static final Optional<Path> PAIR = simulator("partita.ttsim.pair");

  static {
    if (!isThere()) {
      System.err.println(
          "NO TTNN, TTSIM OR COMPILER: kernels are NOT TESTED under Tenstorrent's runtime; name a"
              + " Python 3.10 or 3.12 that has ttnn==0.81.1, -Dpartita.python=PROGRAM, and"
              + " libttsim.so, -Dpartita.ttsim=PATH (https://github.com/tenstorrent/ttsim); and "
              + StockCompiler.REMEDY);
    }
  }

  private WithTtsim() {}

  private static Optional<Path> simulator(String property) {
    return Optional.ofNullable(System.getProperty(property)).map(Path::of).filter(Files::exists);
  }

  private static boolean isThere() {
    return SIMULATOR.isPresent()
        && TTNN.isPresent()
        && (TTNN.get().compiler().isPresent() || StockCompiler.missing().isEmpty());
  }

  /** Another release than the usual one is in a Python of its own. */
  private static Optional<TtnnInstallation> ttnn(String release) {
    boolean isUsual = release.equals(TtnnInstallation.RELEASE);
    String property = "partita.python" + (isUsual ? "" : "." + release);
    try {
      return TtnnInstallation.find(System.getProperty(property, "python3"))
          .filter(found -> found.version().equals(release));
    } catch (IOException broken) {
      return Optional.empty();
    }
  }

  /**
   * Returns an emitted program to run on the simulator; skips the test without one.
   *
   * @param work what the runtime compiles, for all programs of a test class
   */
  static SimulatedProgram program(Path folder, ProgramInterface whole, Path work) {
    assumeThat(isThere()).as("ttnn, ttsim and a compiler").isTrue();
    return new SimulatedProgram(folder, whole, TTNN.orElseThrow(), SIMULATOR.orElseThrow(), work);
  }

  /** Returns an emitted program for two chips; skips the test without a simulator of both. */
  static SimulatedProgram pair(Path folder, ProgramInterface whole, Path work) {
    if (PAIR.isEmpty()) {
      System.err.println(
          "NO TTSIM WITH TWO CHIPS: exchanges are NOT TESTED under Tenstorrent's runtime; name a"
              + " libttsim.so that has two Wormhole chips on PCIe, -Dpartita.ttsim.pair=PATH");
    }
    assumeThat(isThere() && PAIR.isPresent()).as("ttnn and ttsim of two chips").isTrue();
    return new SimulatedProgram(folder, whole, TTNN.orElseThrow(), PAIR.orElseThrow(), work);
  }

  /** Returns a ttnn whose headers a stock compiler takes; skips the test without one. */
  static TtnnInstallation ttnnAndStockCompiler(String release) {
    Optional<TtnnInstallation> ttnn = ttnn(release);
    boolean isThere = ttnn.isPresent() && StockCompiler.missing().isEmpty();
    if (!isThere) {
      System.err.println(
          "NO TTNN "
              + release
              + ": kernels for it are NOT COMPILED with its headers;"
              + " name a Python that has it, -Dpartita.python"
              + (release.equals(TtnnInstallation.RELEASE) ? "" : "." + release)
              + "=PROGRAM");
    }
    assumeThat(isThere).as("ttnn and a stock RISC-V compiler").isTrue();
    return ttnn.orElseThrow();
  }
}
