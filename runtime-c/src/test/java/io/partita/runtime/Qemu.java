package io.partita.runtime;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** QEMU's 32-bit machine, and a compiler for it. */
record Qemu(CCompiler compiler, Path machine) {
  static Optional<Qemu> find() {
    return CCompiler.find("riscv64-unknown-elf-gcc")
        .flatMap(
            compiler ->
                CCompiler.find("qemu-system-riscv32")
                    .map(machine -> new Qemu(compiler, machine.program())));
  }

  /** Links with the port; there is no C library. */
  Path executable(String name, List<Path> sources) {
    List<Path> all = new ArrayList<>(CCompiler.port("emulated", "qemu-virt"));
    all.addAll(sources);
    return compiler.executable(
        name + ".elf",
        CCompiler.Build.RISCV,
        all,
        "-nostdlib",
        "-static",
        "-lgcc",
        "-Wl,--gc-sections",
        "-T",
        CCompiler.MODULE.resolve("ports/qemu-virt/virt.ld").toString());
  }

  /** Runs a program in the folder of its files, with its output in the file {@code console}. */
  ProcessBuilder process(Path program, Path folder, String options) {
    List<String> command = new ArrayList<>(List.of(machine.toString()));
    command.addAll(List.of(machineOptions().split("\\s+")));
    command.addAll(List.of("-serial", "file:console", "-kernel", program.toString()));
    command.addAll(List.of("-append", options));
    return new ProcessBuilder(command).directory(folder.toFile()).redirectErrorStream(true);
  }

  /** The arguments of the machine, as for emitted programs. */
  private static String machineOptions() {
    try {
      return Files.readString(CCompiler.MODULE.resolve("ports/qemu-virt/machine.args")).strip();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
