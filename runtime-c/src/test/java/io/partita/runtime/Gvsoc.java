package io.partita.runtime;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** An installed GVSoC with the target {@code siracusa}, and a compiler for it. */
record Gvsoc(CCompiler compiler, Path installation) {
  private static final Path BOARD = CCompiler.MODULE.resolveSibling("targets").resolve("gvsoc");

  /** GVSoC's arguments for the operating point that the board of several chips sets itself. */
  private static final List<String> CLOCKS =
      List.of(
          "--config-opt=**/fll_cluster/regmap/conf1/reset=0x01E905F5",
          "--config-opt=**/fll_periph/regmap/conf1/reset=0x067005f5",
          "--config-opt=**/soc_clock_domain/frequency=500000000");

  /** Returns the one of the property {@code partita.gvsoc}, or the first on the path. */
  static Optional<Gvsoc> find() {
    Optional<Path> installation =
        Optional.ofNullable(System.getProperty("partita.gvsoc"))
            .map(Path::of)
            .or(() -> CCompiler.find("gvsoc").map(found -> found.program().resolve("../..")))
            .filter(folder -> Files.isExecutable(folder.resolve("bin/gvsoc")));
    return CCompiler.find("riscv64-unknown-elf-gcc")
        .flatMap(compiler -> installation.map(folder -> new Gvsoc(compiler, folder.normalize())));
  }

  /** Links with the port; there is no C library. */
  Path executable(String name, CCompiler.Build build, List<Path> sources) {
    List<Path> all = new ArrayList<>(CCompiler.port("siracusa"));
    all.addAll(sources);
    return compiler.executable(
        name + ".elf",
        build,
        all,
        "-nostdlib",
        "-Wl,--gc-sections",
        "-T",
        CCompiler.MODULE.resolve("ports/siracusa/siracusa.ld").toString(),
        libraryOfCompiler());
  }

  /** Debian's compiler has no library for exactly this architecture. */
  private String libraryOfCompiler() {
    List<String> command =
        List.of(
            compiler.program().toString(),
            "-march=rv32imafc",
            "-mabi=ilp32f",
            "-print-libgcc-file-name");
    return execute(new ProcessBuilder(command), 0).strip();
  }

  /** The outputs of chips, the printed text, and the report as JSON. */
  record Result(List<byte[]> outputs, String printed, String report) {}

  /** Runs a program on a chip per input, which must succeed. */
  Result run(Path program, Path folder, List<byte[]> inputs) {
    String printed = run(program, folder, inputs, 0);
    try {
      List<byte[]> outputs = new ArrayList<>();
      for (int chip = 0; chip < inputs.size(); chip++) {
        Path output = folder.resolve("chip" + chip + ".out");
        outputs.add(Files.exists(output) ? Files.readAllBytes(output) : new byte[0]);
      }
      return new Result(outputs, printed, Files.readString(folder.resolve("report.json")));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * Runs a program on a chip per input, which must end with a code, and returns its printed text.
   */
  String run(Path program, Path folder, List<byte[]> inputs, int code) {
    try {
      for (int chip = 0; chip < inputs.size(); chip++) {
        Files.write(folder.resolve("chip" + chip + ".in"), inputs.get(chip));
        Files.copy(program, folder.resolve("chip" + chip + ".elf"));
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    Path components = CCompiler.Build.SIRACUSA.folder().resolveSibling("gvsoc-components");
    List<String> command =
        List.of(
            "python3",
            BOARD.resolve("simulate.py").toString(),
            folder.toString(),
            "--gvsoc",
            installation.toString(),
            "--components",
            components.toString(),
            "--report",
            folder.resolve("report.json").toString(),
            "--timeout",
            "600");
    return execute(new ProcessBuilder(command), code);
  }

  /** Runs a program on GVSoC's own board of one chip, with its files in a folder. */
  String runAlone(Path program, Path folder) {
    List<String> command = new ArrayList<>(List.of(installation.resolve("bin/gvsoc").toString()));
    command.addAll(List.of("--target=siracusa", "--binary=" + program, "--work-dir=" + folder));
    command.addAll(CLOCKS);
    command.addAll(List.of("image", "flash", "run"));
    return execute(new ProcessBuilder(command), 0);
  }

  private static String execute(ProcessBuilder builder, int code) {
    try {
      Process process = builder.redirectErrorStream(true).start();
      String printed = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      if (process.waitFor() != code) {
        throw new AssertionError(
            String.join(" ", builder.command()) + ": " + process.exitValue() + "\n" + printed);
      }
      return printed;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }
}
