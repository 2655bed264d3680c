package io.partita.cli;

import io.partita.backend.siracusa.SiracusaCode;
import io.partita.backend.siracusa.run.GvsocPython;
import io.partita.backend.siracusa.run.Port;
import io.partita.ir.diagnostic.PartitaException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
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

  @Option(
      names = GvsocPython.OPTION,
      paramLabel = "PROGRAM",
      description = "The Python that runs GVSoC and has its packages; by default python3.")
  String python;

  /** Whether one of them was given. */
  boolean areGiven() {
    return on != null || gvsoc != null || python != null;
  }

  /** Neither means something for a program in Java. */
  void requireNone(CommandSpec spec) {
    if (areGiven()) {
      throw new ParameterException(
          spec.commandLine(),
          "--on, --gvsoc and --python are for programs in C: 'partita compile --target siracusa'");
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
    if (port == Port.GVSOC) {
      verifyPython();
    }
    return port;
  }

  private String pythonName() {
    return python == null ? GvsocPython.USUAL : python;
  }

  /** GVSoC's own code runs in it, and imports packages that it may not have. */
  private void verifyPython() {
    String where = GvsocPython.OPTION + " " + pythonName();
    Path program =
        GvsocPython.find(pythonName())
            .orElseThrow(
                () ->
                    new PartitaException(
                        SiracusaCode.NO_PROGRAM,
                        where,
                        "a Python 3",
                        "no such program on the path",
                        "apt-get install python3, or name another one with --python PROGRAM"));
    try {
      List<String> missing = GvsocPython.missing(program, Optional.of(gvsoc));
      if (!missing.isEmpty()) {
        throw new PartitaException(
            SiracusaCode.NO_PROGRAM,
            where,
            "the Python packages that GVSoC imports",
            program + " lacks " + String.join(", ", missing),
            GvsocPython.remedy(program, missing)
                + "; or name a Python that has them: --python PROGRAM");
      }
    } catch (IOException broken) {
      throw new PartitaException(
          SiracusaCode.NO_PROGRAM,
          where,
          "a Python 3",
          String.valueOf(broken.getMessage()),
          "name another one with --python PROGRAM");
    }
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
    return List.of(GvsocPython.OPTION, pythonName(), "--gvsoc", gvsoc.toAbsolutePath().toString());
  }
}
