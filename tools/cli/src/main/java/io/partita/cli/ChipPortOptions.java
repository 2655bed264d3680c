package io.partita.cli;

import io.partita.backend.siracusa.SiracusaCode;
import io.partita.backend.siracusa.run.Port;
import io.partita.ir.diagnostic.PartitaException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;

/** On which port a program in C runs. */
final class ChipPortOptions {
  @Option(
      names = "--on",
      paramLabel = "PORT",
      description =
          "Where a program in C runs: host (the default), mpi, qemu or gvsoc. It's built first.")
  Port on;

  @Option(
      names = "--gvsoc",
      paramLabel = "PATH",
      description = "Where GVSoC is installed, for --on gvsoc.")
  Path gvsoc;

  /** Whether one of them was given. */
  boolean areGiven() {
    return on != null || gvsoc != null;
  }

  /** Neither means something for a program in Java. */
  void requireNone(CommandSpec spec) {
    if (areGiven()) {
      throw new ParameterException(
          spec.commandLine(),
          "--on and --gvsoc are for programs in C: 'partita compile --target siracusa'");
    }
  }

  /** The port that was chosen. */
  Port port(CommandSpec spec) {
    Port port = on == null ? Port.HOST : on;
    if ((port == Port.GVSOC) != (gvsoc != null)) {
      throw new ParameterException(
          spec.commandLine(), "--on gvsoc and --gvsoc PATH go together: where is GVSoC?");
    }
    if (gvsoc != null && !Files.isExecutable(gvsoc.resolve("bin/gvsoc"))) {
      throw new PartitaException(
          SiracusaCode.NO_PROGRAM,
          "--gvsoc " + gvsoc,
          "the folder in which GVSoC is installed, with bin/gvsoc",
          "no such program",
          "build https://github.com/gvsoc/gvsoc with TARGETS=siracusa (targets/gvsoc/README.md)");
    }
    return port;
  }

  /**
   * What the port's programs need of them.
   *
   * @param anyImages whether memories may begin with other bytes than were compiled, which programs
   *     verify on ports other than GVSoC
   */
  List<String> options(boolean anyImages) {
    if (gvsoc == null) {
      return anyImages ? List.of("--images", "any") : List.of();
    }
    return List.of("--gvsoc", gvsoc.toAbsolutePath().toString());
  }
}
