package io.partita.cli;

import io.partita.backend.siracusa.ModelDescription;
import io.partita.driver.cases.NamedArrays;
import io.partita.ir.tensor.Tensor;
import java.nio.file.Path;
import java.util.List;

/** What a program in C runs on. */
final class ChipInputs {
  private ChipInputs() {}

  /** The arrays of a NumPy archive, in the order of the program's inputs. */
  static List<Tensor> read(Path file, ModelDescription description) {
    return NamedArrays.read(file)
        .fit(
            description.inputs().stream()
                .map(input -> new NamedArrays.Wanted(input.name(), input.type().type()))
                .toList());
  }
}
