package io.partita.runtime;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** The compiler and the launcher of MPI. */
record Mpi(CCompiler compiler, Path launcher) {
  static Optional<Mpi> find() {
    return CCompiler.find("mpicc")
        .flatMap(
            compiler ->
                CCompiler.find("mpirun").map(launcher -> new Mpi(compiler, launcher.program())));
  }

  /** Links with the port. */
  Path executable(String name, List<Path> sources) {
    List<Path> all = new ArrayList<>(CCompiler.port("emulated", "host", "mpi"));
    all.addAll(sources);
    return compiler.executable(name, CCompiler.Build.MPI, all, "-lpthread");
  }

  /** Runs a program with a rank per input, with files in a folder, and returns the outputs. */
  List<byte[]> run(Path program, Path folder, List<byte[]> inputs, String... options) {
    List<String> command = new ArrayList<>(List.of(launcher.toString()));
    if (System.getProperty("user.name").equals("root")) {
      command.add("--allow-run-as-root");
    }
    command.addAll(
        List.of(
            "--oversubscribe", "--timeout", "120", "-n", "" + inputs.size(), program.toString()));
    command.addAll(List.of("--input", folder.resolve("input-%").toString()));
    command.addAll(List.of("--output", folder.resolve("output-%").toString()));
    command.addAll(List.of(options));
    ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
    // MPI doesn't free its allocations.
    builder.environment().put("ASAN_OPTIONS", "detect_leaks=0");
    try {
      for (int chip = 0; chip < inputs.size(); chip++) {
        Files.write(folder.resolve("input-" + chip), inputs.get(chip));
      }
      Process process = builder.start();
      process.getOutputStream().close();
      String messages = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      if (process.waitFor() != 0) {
        throw new AssertionError(program + ":\n" + messages);
      }
      List<byte[]> outputs = new ArrayList<>();
      for (int chip = 0; chip < inputs.size(); chip++) {
        outputs.add(Files.readAllBytes(folder.resolve("output-" + chip)));
      }
      return outputs;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }
}
