package io.partita.cli;

import io.partita.backend.emitted.ProgramCode;
import io.partita.backend.emitted.run.GvsocHeaders;
import io.partita.backend.emitted.run.GvsocPython;
import io.partita.backend.emitted.run.Port;
import io.partita.backend.metalium.KernelProgram;
import io.partita.ir.diagnostic.PartitaException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;

/** Options for the port of a C program. */
final class ChipPortOptions {
  @Option(
      names = "--on",
      paramLabel = "PORT",
      description =
          "Where a program for chips runs, after it is built. C: host (the default), mpi, qemu or"
              + " gvsoc; TT-Metalium kernels: emulation (the default) or ttsim.")
  RunPlace on;

  @Option(
      names = "--gvsoc",
      paramLabel = "PATH",
      description = "Where GVSoC is installed, for --on gvsoc.")
  Path gvsoc;

  @Option(
      names = GvsocHeaders.OPTION,
      paramLabel = "PATH",
      description =
          "GVSoC's headers, core/engine/include of its sources; by default they are looked for"
              + " around the installation.")
  Path headers;

  @Option(
      names = GvsocPython.OPTION,
      paramLabel = "PROGRAM",
      description =
          "The Python that runs GVSoC and has its packages, or that has ttnn; by default python3.")
  String python;

  @Mixin TtsimOptions ttsim = new TtsimOptions();

  /** Whether one of these options was given. */
  private boolean areGiven() {
    return on != null || gvsoc != null || headers != null || python != null;
  }

  /** Refuses these options for a Java program. */
  void requireNone(CommandSpec spec) {
    ttsim.verify(on, spec);
    if (on != null) {
      on.requireOther("a program in Java", "leave --on out");
    }
    if (areGiven()) {
      throw new ParameterException(
          spec.commandLine(),
          "--on, --gvsoc, --gvsoc-headers and --python are for C programs: 'partita compile --target siracusa'");
    }
  }

  /**
   * Returns the chosen place of TT-Metalium kernels.
   *
   * @throws PartitaException P6033 for ports of C programs, P5102 without ttnn or ttsim
   */
  KernelProgram.Place kernelPlace(Path folder, CommandSpec spec) {
    ttsim.verify(on, spec);
    if (on != null) {
      on.requireKernels(folder.toString());
    }
    if (gvsoc != null || headers != null) {
      throw new ParameterException(
          spec.commandLine(),
          "--gvsoc and --gvsoc-headers are for C programs: 'partita compile --target siracusa'");
    }
    return ttsim.place(on, python, folder.resolve("build/ttsim"), spec);
  }

  /**
   * Returns the chosen port of a C program.
   *
   * @throws PartitaException P6033 for places of TT-Metalium kernels, P5102 without GVSoC
   */
  Port port(CommandSpec spec) {
    ttsim.verify(on, spec);
    if (on != null) {
      on.requireOther("a program in C", "choose host, mpi, qemu or gvsoc");
    }
    Port port = on == null ? Port.HOST : on.port().orElseThrow();
    if ((port == Port.GVSOC) != (gvsoc != null)) {
      throw new ParameterException(
          spec.commandLine(), "--on gvsoc and --gvsoc PATH go together: where is GVSoC?");
    }
    if (gvsoc != null && !Files.isExecutable(gvsoc.resolve("bin/gvsoc"))) {
      throw new PartitaException(
          ProgramCode.NO_PROGRAM,
          "--gvsoc " + gvsoc,
          "the folder in which GVSoC is installed, with bin/gvsoc",
          "no such program",
          "build https://github.com/gvsoc/gvsoc with TARGETS=siracusa (targets/gvsoc/README.md)");
    }
    if (port == Port.GVSOC) {
      verifyPython();
      headers();
    }
    return port;
  }

  /** The folder of GVSoC's headers. */
  private Path headers() {
    return GvsocHeaders.find(gvsoc.toAbsolutePath(), Optional.ofNullable(headers))
        .orElseThrow(
            () ->
                new PartitaException(
                    ProgramCode.NO_PROGRAM,
                    headers == null ? "--gvsoc " + gvsoc : GvsocHeaders.OPTION + " " + headers,
                    "GVSoC's headers (vp/vp.hpp)",
                    headers == null
                        ? "neither include nor ../core/engine/include has them"
                        : "no such file in this folder",
                    "name their folder: "
                        + GvsocHeaders.OPTION
                        + " PATH, which is core/engine/include of GVSoC's sources"));
  }

  /** The Python of these options. */
  String pythonName() {
    return python == null ? GvsocPython.USUAL : python;
  }

  /** The Python for GVSoC, checked for the packages that GVSoC imports. */
  private void verifyPython() {
    String where = GvsocPython.OPTION + " " + pythonName();
    Path program =
        GvsocPython.find(pythonName())
            .orElseThrow(
                () ->
                    new PartitaException(
                        ProgramCode.NO_PROGRAM,
                        where,
                        "a Python 3",
                        "no such program on the path",
                        "apt-get install python3, or name another one with --python PROGRAM"));
    try {
      List<String> missing = GvsocPython.missing(program, Optional.of(gvsoc));
      if (!missing.isEmpty()) {
        throw new PartitaException(
            ProgramCode.NO_PROGRAM,
            where,
            "the Python packages that GVSoC imports",
            program + " lacks " + String.join(", ", missing),
            GvsocPython.remedy(program, missing)
                + "; or name a Python that has them: --python PROGRAM");
      }
    } catch (IOException broken) {
      throw new PartitaException(
          ProgramCode.NO_PROGRAM,
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
    return List.of(
        GvsocPython.OPTION,
        pythonName(),
        "--gvsoc",
        gvsoc.toAbsolutePath().toString(),
        "--headers",
        headers().toString());
  }
}
