package io.partita.backend.metalium;

import io.partita.backend.emitted.ProgramCode;
import io.partita.backend.emitted.ProgramInterface;
import io.partita.backend.emitted.run.Build;
import io.partita.ir.diagnostic.PartitaException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;

/**
 * An emitted program that is built for the emulated chip.
 *
 * @param folder the emitted folder
 */
public record EmulatedProgram(Path folder, ProgramInterface whole) implements KernelProgram {
  /**
   * Builds a program, incrementally.
   *
   * @throws PartitaException P5102 if there's no make or compiler, P5002 if nothing can be written
   *     to the folder, P5103 if the build fails
   */
  public static EmulatedProgram build(Path folder, ProgramInterface whole) {
    for (String tool : List.of("make", "g++")) {
      if (Build.find(tool).isEmpty()) {
        throw new PartitaException(
            ProgramCode.NO_PROGRAM,
            "the emulation of the chip",
            tool + " on the path",
            "none",
            "install one: apt-get install make g++");
      }
    }
    Build.make(folder, List.of());
    return new EmulatedProgram(folder, whole);
  }

  @Override
  public ProcessBuilder process(Optional<Path> probes) {
    Path whole = folder.toAbsolutePath();
    List<String> command =
        new ArrayList<>(
            List.of(
                whole.resolve("emulation").toString(),
                whole.resolve("weights.bin").toString(),
                "/dev/stdin",
                "/dev/stdout"));
    probes.ifPresent(file -> command.add(file.toString()));
    return new ProcessBuilder(command);
  }

  @Override
  public OptionalDouble tolerance() {
    return OptionalDouble.empty();
  }

  @Override
  public String expected() {
    return "the emulated program to succeed";
  }

  @Override
  public String told(String messages) {
    return messages.strip();
  }
}
