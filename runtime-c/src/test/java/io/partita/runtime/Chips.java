package io.partita.runtime;

import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Runs a program on a number of chips, each a process, with sockets in a folder. */
record Chips(Path program, Path folder) {
  /** Runs the chips with their inputs, and returns their outputs. */
  List<byte[]> run(List<byte[]> inputs, String... options) {
    List<Process> processes = new ArrayList<>();
    try {
      for (int chip = 0; chip < inputs.size(); chip++) {
        List<String> command = new ArrayList<>(List.of(program.toString()));
        command.addAll(List.of("--chip", "" + chip, "--chips", "" + inputs.size()));
        command.addAll(List.of("--links", folder.toString()));
        command.addAll(List.of(options));
        processes.add(
            new ProcessBuilder(command)
                .redirectError(folder.resolve(chip + ".log").toFile())
                .start());
      }
      for (int chip = 0; chip < inputs.size(); chip++) {
        write(processes.get(chip), inputs.get(chip));
      }
      List<byte[]> outputs = new ArrayList<>();
      for (Process process : processes) {
        outputs.add(process.getInputStream().readAllBytes());
      }
      for (int chip = 0; chip < inputs.size(); chip++) {
        if (processes.get(chip).waitFor() != 0) {
          throw new AssertionError(
              "chip "
                  + chip
                  + " of "
                  + program
                  + ":\n"
                  + Files.readString(folder.resolve(chip + ".log")));
        }
      }
      return outputs;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    } finally {
      processes.forEach(Process::destroyForcibly);
    }
  }

  /** A chip that fails before it reads is reported by its exit code. */
  private static void write(Process process, byte[] input) {
    try (OutputStream stream = process.getOutputStream()) {
      stream.write(input);
    } catch (IOException e) {
      // The exit code is checked later.
      return;
    }
  }
}
