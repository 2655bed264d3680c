package io.partita.backend.java;

import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.file.OutputFolder;
import java.nio.file.Path;

/** Writes emitted programs to folders atomically. */
public final class ProgramFolder {
  private ProgramFolder() {}

  /**
   * Writes a program as {@link OutputFolder} does.
   *
   * @throws PartitaException P5002 if it can't be written, P5003 if it holds other files
   */
  public static void write(EmittedProgram program, Path folder) {
    OutputFolder.write(program.files(), folder, ProgramFolder::isProgram);
  }

  private static boolean isProgram(Path folder) {
    try {
      JavaDescription.read(folder);
      return true;
    } catch (PartitaException notOurs) {
      return false;
    }
  }
}
