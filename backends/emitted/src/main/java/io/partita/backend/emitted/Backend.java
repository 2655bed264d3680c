package io.partita.backend.emitted;

import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.file.OutputFolder;
import io.partita.ir.program.Program;
import io.partita.ir.progress.ProgressListener;
import java.nio.file.Path;
import java.util.Optional;
import java.util.function.LongConsumer;

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
   * Like {@link #emit(Program, Optional)}, with steps.
   *
   * @param progress receives the current step and its share of the work
   * @throws PartitaException as above
   */
  default EmittedProgram emit(Program program, Optional<Program> chunk, ProgressListener progress) {
    progress.step("emitting " + language(), 0, 1);
    return emit(program, chunk);
  }

  /**
   * The usual time to emit an operation of a role, in seconds. Estimates of the remaining time use
   * its ratio to the time of writing.
   */
  default double secondsPerOperation() {
    return 0.004;
  }

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
   * Checks that a program's folder can be written, before it is compiled.
   *
   * @throws PartitaException P5002 if it can't be written, P5003 if it holds other files
   */
  default void verifyOutput(Path folder) {
    OutputFolder.verify(folder, this::isProgram);
  }

  /**
   * Writes a program's folder atomically, as {@link OutputFolder} does.
   *
   * @throws PartitaException P5002 if it can't be written, P5003 if it holds other files
   */
  default void write(EmittedProgram program, Path folder) {
    write(program, folder, bytes -> {});
  }

  /**
   * Like {@link #write(EmittedProgram, Path)}.
   *
   * @param written receives the number of bytes that have been written
   * @throws PartitaException P5002 if it can't be written, P5003 if it holds other files
   */
  default void write(EmittedProgram program, Path folder, LongConsumer written) {
    OutputFolder.write(program.files(), folder, this::isProgram, written);
  }
}
