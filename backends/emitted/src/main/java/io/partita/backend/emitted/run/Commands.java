package io.partita.backend.emitted.run;

import io.partita.ir.file.SmallFile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** The commands that start programs on ports, in a folder with {@code chipI.in}. */
final class Commands {
  private Commands() {}

  /**
   * @param folder the emitted folder, with the built port
   * @param build the folder in it, in which programs of ports are
   * @param files the folder of inputs, outputs and reports
   */
  static List<List<String>> of(
      Port port, Path folder, String build, int chips, List<String> options, Path files)
      throws IOException {
    Path built = folder.resolve(build).resolve(port.text());
    return switch (port) {
      case HOST -> host(built, chips, options, files);
      case MPI -> List.of(mpi(built, chips, options));
      case QEMU -> List.of(qemu(folder, built, options));
      case GVSOC -> List.of(gvsoc(folder, built, chips, options, files));
    };
  }

  private static List<String> program(Path built, int chip, List<String> options) {
    List<String> command = new ArrayList<>();
    command.add(built.resolve("chip" + chip).toString());
    // A path may contain %, which stands for the chip's number; the linked name doesn't.
    command.addAll(List.of("--l3", "chip%.l3"));
    command.addAll(List.of("--input", "chip%.in", "--output", "chip%.out"));
    command.addAll(List.of("--report", "chip%.json"));
    command.addAll(options);
    return command;
  }

  private static List<List<String>> host(Path built, int chips, List<String> options, Path files) {
    List<List<String>> commands = new ArrayList<>();
    for (int chip = 0; chip < chips; chip++) {
      List<String> command = program(built, chip, options);
      command.addAll(List.of("--chip", "" + chip, "--chips", "" + chips));
      command.addAll(List.of("--links", files.toString()));
      commands.add(command);
    }
    return commands;
  }

  private static List<String> mpi(Path built, int chips, List<String> options) {
    List<String> command = new ArrayList<>(List.of("mpirun", "--quiet", "--oversubscribe"));
    if (System.getProperty("user.name").equals("root")) {
      command.add("--allow-run-as-root");
    }
    for (int chip = 0; chip < chips; chip++) {
      if (chip > 0) {
        command.add(":");
      }
      command.addAll(List.of("-n", "1"));
      command.addAll(program(built, chip, options));
    }
    return command;
  }

  /** The machine's options are in the emitted folder, for people and for this command. */
  private static List<String> qemu(Path folder, Path built, List<String> options)
      throws IOException {
    List<String> command = new ArrayList<>(List.of("qemu-system-riscv32"));
    Path machine = folder.resolve("runtime/ports/qemu-virt/machine.args");
    command.addAll(List.of(SmallFile.text(machine).strip().split("\\s+")));
    command.addAll(List.of("-serial", "file:console"));
    command.addAll(List.of("-kernel", built.resolve("chip0").toString()));
    // The options are one text, separated by spaces, so files are named relative to this folder.
    List<String> words =
        new ArrayList<>(
            List.of("--input", "chip%.in", "--output", "chip%.out", "--report", "chip%.json"));
    words.addAll(List.of("--l3", "chip0.l3"));
    words.addAll(options);
    command.addAll(List.of("-append", String.join(" ", words)));
    return command;
  }

  private static List<String> gvsoc(
      Path folder, Path built, int chips, List<String> options, Path files) throws IOException {
    for (int chip = 0; chip < chips; chip++) {
      Files.createSymbolicLink(files.resolve("chip" + chip + ".elf"), built.resolve("chip" + chip));
    }
    List<String> rest = new ArrayList<>(options);
    int python = rest.indexOf(GvsocPython.OPTION);
    String program = python < 0 ? GvsocPython.USUAL : rest.get(python + 1);
    if (python >= 0) {
      rest.subList(python, python + 2).clear();
    }
    List<String> command = new ArrayList<>();
    command.addAll(
        List.of(program, folder.resolve("runtime/gvsoc/simulate.py").toString(), "" + files));
    command.addAll(List.of("--report", files.resolve("report.json").toString()));
    command.addAll(List.of("--components", folder.resolve("build/gvsoc/components").toString()));
    command.addAll(rest);
    return command;
  }

  /** Links the files of L3 into the folder in which programs look for them. */
  static void linkImages(Path folder, int chips, Path files) throws IOException {
    for (int chip = 0; chip < chips; chip++) {
      String name = "chip" + chip + ".l3";
      Files.createSymbolicLink(files.resolve(name), folder.resolve(name));
    }
  }
}
