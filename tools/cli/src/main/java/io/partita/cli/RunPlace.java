package io.partita.cli;

import io.partita.backend.emitted.run.Port;
import io.partita.driver.DriverCode;
import io.partita.ir.diagnostic.PartitaException;
import java.util.Locale;
import java.util.Optional;

/** Where an emitted program can run, as {@code --on} names it. */
enum RunPlace {
  HOST(Port.HOST),
  MPI(Port.MPI),
  QEMU(Port.QEMU),
  GVSOC(Port.GVSOC),
  /** Emulated Tenstorrent chips. */
  EMULATION(null),
  /** Tenstorrent's simulator, under {@code ttnn}. */
  TTSIM(null);

  private final Port port;

  RunPlace(Port port) {
    this.port = port;
  }

  /** The port of C programs; empty for a place where none runs. */
  Optional<Port> port() {
    return Optional.ofNullable(port);
  }

  /**
   * Requires a place where TT-Metalium kernels run.
   *
   * @param program what doesn't run elsewhere
   * @throws PartitaException P6033 if it is another one
   */
  void requireKernels(String program) {
    if (port != null) {
      throw refused(
          "emulation or ttsim: " + program + " has TT-Metalium kernels",
          "write --on emulation or --on ttsim");
    }
  }

  /**
   * Requires a place where a program without TT-Metalium kernels runs.
   *
   * @param program such as {@code a program in C}
   * @param fix what to do
   * @throws PartitaException P6033 if it is the emulation or Tenstorrent's simulator
   */
  void requireOther(String program, String fix) {
    if (port == null) {
      throw refused("a program for --target n150 or n300", program, fix);
    }
  }

  private PartitaException refused(String expected, String fix) {
    return refused(expected, text(), fix + ", or leave --on out");
  }

  private PartitaException refused(String expected, String found, String fix) {
    return new PartitaException(DriverCode.PLACE, "--on " + text(), expected, found, fix);
  }

  private String text() {
    return name().toLowerCase(Locale.ROOT);
  }
}
