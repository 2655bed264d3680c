package io.partita.cli;

import io.partita.backend.emitted.run.Build;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.Writer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/** The programs that build and run emitted C. Java needs none of them. */
final class ChipTools {
  private static final int PATIENCE_SECONDS = 5;
  private static final int RANKS_SECONDS = 30;
  private static final String DEBIAN = "apt-get install ";

  /**
   * A program on the PATH.
   *
   * @param purpose its purpose
   * @param fix how to install it
   * @param tellsVersion whether it supports {@code --version}
   */
  record Tool(String name, String purpose, String fix, boolean tellsVersion) {
    /** Its path and version, if it is installed. */
    Optional<String> found() {
      return Build.find(name)
          .map(path -> tellsVersion ? version(path) + ", " + path : path.toString());
    }
  }

  private ChipTools() {}

  /** The programs in the order in which ports need them. */
  static List<Tool> all() {
    return List.of(
        tool("make", "builds emitted C, for every port", "make"),
        tool("gcc", "compiles C for this computer: --on host", "gcc"),
        tool("mpicc", "compiles C for MPI: --on mpi", "libopenmpi-dev"),
        tool("mpirun", "runs programs over MPI: --on mpi", "openmpi-bin"),
        tool(
            "riscv64-unknown-elf-gcc",
            "compiles C for bare-metal RV32: --on qemu, --on gvsoc",
            "gcc-riscv64-unknown-elf"),
        tool("qemu-system-riscv32", "runs bare-metal programs: --on qemu", "qemu-system-misc"),
        tool("g++", "compiles the board's components for GVSoC: --on gvsoc", "g++"),
        tool("python3", "starts GVSoC: --on gvsoc", "python3"),
        new Tool(
            "gvsoc",
            "simulates Siracusa chips: --on gvsoc --gvsoc PATH",
            "build https://github.com/gvsoc/gvsoc with TARGETS=siracusa, and name with --gvsoc where"
                + " it's installed (targets/gvsoc/README.md)",
            false));
  }

  /** Starts two idle processes over MPI; returns the problem, if any. */
  static String startRanks() throws IOException {
    List<String> command = new ArrayList<>(List.of("mpirun", "--oversubscribe"));
    if (System.getProperty("user.name").equals("root")) {
      command.add("--allow-run-as-root");
    }
    command.addAll(List.of("-n", "2", "true"));
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    process.getOutputStream().close();
    try {
      if (!process.waitFor(RANKS_SECONDS, TimeUnit.SECONDS)) {
        process.destroyForcibly();
        return "no end after " + RANKS_SECONDS + " s";
      }
      String said =
          process.inputReader().lines().filter(line -> !line.isBlank()).findFirst().orElse("");
      return process.exitValue() == 0 ? "" : "exit code " + process.exitValue() + " " + said;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return "interrupted";
    }
  }

  private static Tool tool(String name, String purpose, String debianPackage) {
    return new Tool(name, purpose, DEBIAN + debianPackage, true);
  }

  /** The first line of its output. */
  private static String version(Path program) {
    try {
      Process process =
          new ProcessBuilder(program.toString(), "--version")
              .redirectError(ProcessBuilder.Redirect.DISCARD)
              .start();
      process.getOutputStream().close();
      try (BufferedReader lines = process.inputReader()) {
        String first = lines.readLine();
        lines.transferTo(Writer.nullWriter());
        if (!process.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
          process.destroyForcibly();
        }
        return first == null ? "no version" : first.strip();
      }
    } catch (IOException broken) {
      return "it doesn't start (" + broken.getMessage() + ")";
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return "interrupted";
    }
  }
}
