package io.partita.backend.emitted;

import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.file.OutputFolder;
import io.partita.ir.program.Program;
import java.nio.file.Path;
import java.util.Optional;

/** Turns programs for one device or several into source code, weights and their description. */
public interface Backend {
  /** The language of the emitted code. */
  String language();

  /**
   * Returns the emitted program, without writing it.
   *
   * @param program a run of the model; for a decoder, of one new token
   * @param chunk the same decoder for several tokens at once, with the same states on each device;
   *     shared weights are the same tensors
   * @throws PartitaException if the target can't hold or run it
   */
  EmittedProgram emit(Program program, Optional<Program> chunk);

  /**
   * Returns the emitted program without a chunk.
   *
   * @throws PartitaException as {@link #emit(Program, Optional)}
   */
  default EmittedProgram emit(Program program) {
    return emit(program, Optional.empty());
  }

  /** Whether a folder holds a program of this backend, which another may replace. */
  boolean isProgram(Path folder);

  /**
   * Writes a program's folder atomically, as {@link OutputFolder} does.
   *
   * @throws PartitaException P5002 if it can't be written, P5003 if it holds other files
   */
  default void write(EmittedProgram program, Path folder) {
    OutputFolder.write(program.files(), folder, this::isProgram);
  }
}
