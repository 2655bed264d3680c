package io.partita.cli;

import io.partita.backend.emitted.ProgramInterface;
import io.partita.driver.cases.NamedArrays;
import io.partita.ir.tensor.Tensor;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.List;

/** The inputs of a C program. */
final class ChipInputs {
  private ChipInputs() {}

  /**
   * Returns the arrays of a NumPy archive, in the order of the program's inputs.
   *
   * @param notes receives a note about unused arrays
   */
  static List<Tensor> read(Path file, ProgramInterface description, PrintWriter notes) {
    NamedArrays arrays = NamedArrays.read(file);
    arrays.verifyNoState(
        description.states().stream().map(ProgramInterface.StatePort::input).toList());
    List<NamedArrays.Wanted> wanted =
        description.inputs().stream()
            .map(input -> new NamedArrays.Wanted(input.name(), input.type()))
            .toList();
    List<Tensor> arguments = arrays.fit(wanted);
    arrays.noteUnused(wanted).ifPresent(notes::println);
    return arguments;
  }
}
