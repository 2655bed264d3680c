package io.partita.backend.metalium;

import io.partita.backend.emitted.ProgramCode;
import io.partita.backend.emitted.ProgramInterface;
import io.partita.backend.emitted.run.Build;
import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.tensor.Tensor;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

/**
 * An emitted program that is built for the emulated chip.
 *
 * @param folder the emitted folder
 */
public record EmulatedProgram(Path folder, ProgramInterface whole) {
  /**
   * Builds a program, incrementally.
   *
   * @throws PartitaException P5102 if there's no make or compiler, P5103 if the build fails
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
    String messages = run(folder, ProgramCode.BUILD_FAILED, "make", "-s", "-j2");
    if (!messages.isEmpty()) {
      throw failed(folder, ProgramCode.BUILD_FAILED, "make", messages);
    }
    return new EmulatedProgram(folder, whole);
  }

  /**
   * Returns the outputs of a run that begins with empty states.
   *
   * @param inputs in the order of the program's inputs
   * @param limit the time limit
   * @throws PartitaException P5104 if the program stops, as it does when a kernel breaks a rule
   */
  public List<Tensor> run(List<Tensor> inputs, Duration limit) {
    try (EmulatedSession session = new EmulatedSession(this, limit)) {
      return session.run(inputs);
    }
  }

  private static String run(Path folder, ProgramCode code, String... command) {
    try {
      Process process =
          new ProcessBuilder(command).directory(folder.toFile()).redirectErrorStream(true).start();
      String messages = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      if (process.waitFor() != 0) {
        throw failed(folder, code, command[0], messages);
      }
      return messages;
    } catch (IOException e) {
      throw failed(folder, code, command[0], e.toString());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw failed(folder, code, command[0], "interrupted");
    }
  }

  static PartitaException failed(Path folder, ProgramCode code, String command, String found) {
    return new PartitaException(
        code,
        folder.toString(),
        command + " to succeed",
        found.strip(),
        "compile the model again; if it still fails, report it with this text");
  }
}
