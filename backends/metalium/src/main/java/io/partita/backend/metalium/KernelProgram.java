package io.partita.backend.metalium;

import io.partita.backend.emitted.ProgramCode;
import io.partita.backend.emitted.ProgramInterface;
import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.tensor.Tensor;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;

/** An emitted program that is ready to run in one of the places where kernels run. */
public interface KernelProgram {
  /** The emitted folder. */
  Path folder();

  ProgramInterface whole();

  /**
   * Returns the process of the program. It reads the inputs of one run after the other from its
   * standard input, f32 each, and writes the outputs of each to its standard output. What it writes
   * to its standard error are messages.
   *
   * @param probes the file to which it writes the results of all launches of its first run
   * @throws IOException if it can't be prepared
   */
  ProcessBuilder process(Optional<Path> probes) throws IOException;

  /**
   * The tolerance of results, relative to an element and to the largest of its tensor, where the
   * vector engine may compute otherwise than {@link KernelArithmetic} says; empty where it doesn't.
   */
  OptionalDouble tolerance();

  /** What failed, for a diagnostic. */
  String expected();

  /** What the messages of a program that stopped tell. */
  String told(String messages);

  /** Returns the failure that the messages of a program that stopped tell, by default P5104. */
  default PartitaException failed(String messages) {
    return stopped(told(messages));
  }

  /** Returns P5104 for a program that stopped. */
  default PartitaException stopped(String found) {
    return stopped(found, "compile the model again; if it still fails, report it with this text");
  }

  /** Returns P5104 for a program that needs more time than it has. */
  default PartitaException late(Duration limit) {
    return stopped(
        "still running after " + limit.toSeconds() + " s, the time limit",
        "allow more time with --timeout SECONDS" + sinceItIsLate());
  }

  /** Why a program may need much time, as the end of a sentence. */
  default String sinceItIsLate() {
    return "";
  }

  private PartitaException stopped(String found, String remedy) {
    return new PartitaException(
        ProgramCode.PROGRAM_STOPPED, folder().toString(), expected(), found, remedy);
  }

  /**
   * Returns the outputs of a run that begins with empty states.
   *
   * @param inputs in the order of the program's inputs
   * @param limit the time limit
   * @throws PartitaException P5104 if the program stops, as it does when a kernel breaks a rule
   */
  default List<Tensor> run(List<Tensor> inputs, Duration limit) {
    try (KernelSession session = new KernelSession(this, limit)) {
      return session.run(inputs);
    }
  }

  /** Where kernels run. */
  @FunctionalInterface
  interface Place {
    /**
     * Makes an emitted program ready.
     *
     * @throws PartitaException P5102 to P5105 if it can't run there
     */
    KernelProgram open(Path folder, ProgramInterface whole);
  }
}
