package io.partita.backend.emitted.run;

import io.partita.backend.emitted.ProgramCode;
import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.eval.RefusedInput;
import java.nio.file.Path;

/** The diagnostic for a program that ends early. */
final class StoppedProgram {
  private StoppedProgram() {}

  /**
   * @param found the program's output, or why it didn't run
   */
  static PartitaException of(Path folder, Port port, String found) {
    return of(
        folder,
        port,
        found,
        "compile the model again; if it still fails, report it with this text");
  }

  /** Like {@link #of(Path, Port, String)}; an input that the program refused has its own remedy. */
  static PartitaException of(Path folder, Port port, String found, String remedy) {
    return RefusedInput.in(found)
        .orElseGet(
            () ->
                new PartitaException(
                    ProgramCode.PROGRAM_STOPPED,
                    folder + ", --on " + port.text(),
                    "a program that runs",
                    found,
                    remedy));
  }
}
